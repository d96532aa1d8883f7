// The report's text with what was found out about it: a mark leads to its verdict.
import { useMemo } from "preact/hooks";
import type { ReportPart } from "./data";
import { type Block, blocksOf, type Note, type Piece } from "./text";
import { Out } from "./ui";

interface Props {
  report: ReportPart;
  notes: Note[];
  /** `metric|item` that is open. */
  open: string;
  onOpen: (metric: string, item: string) => void;
}

export function Reader({ report, notes, open, onOpen }: Props) {
  const blocks = useMemo(() => blocksOf(report, notes), [report, notes]);
  return (
    <article class="reader" lang={report.language ?? undefined} dir="auto">
      {grouped(blocks).map((group, number) =>
        group[0]!.kind === "table_row" ? (
          <Table key={number} rows={group} open={open} onOpen={onOpen} />
        ) : (
          group.map((block, at) => <OneBlock key={`${number}.${at}`} block={block} open={open} onOpen={onOpen} />)
        ),
      )}
    </article>
  );
}

/** Rows of a table that follow one another belong together. */
function grouped(blocks: Block[]): Block[][] {
  const groups: Block[][] = [];
  for (const block of blocks) {
    const last = groups[groups.length - 1];
    if (block.kind === "table_row" && last?.[0]?.kind === "table_row") last.push(block);
    else groups.push([block]);
  }
  return groups;
}

type Opening = Pick<Props, "open" | "onOpen">;

function OneBlock({ block, open, onOpen }: { block: Block } & Opening) {
  const inner = <Pieces pieces={block.cells[0] ?? []} open={open} onOpen={onOpen} />;
  switch (block.kind) {
    case "heading":
      return <div class={`h h${Math.min(6, Math.max(1, block.level))}`} role="heading" aria-level={Math.min(6, block.level + 1)}>{inner}</div>;
    case "list_item":
      return (
        <div class="li" style={{ "--depth": String(block.level) }}>
          <span class="marker">{block.marker}</span>
          <span>{inner}</span>
        </div>
      );
    case "code":
    case "math":
      return <pre>{inner}</pre>;
    case "quote":
      return <blockquote>{inner}</blockquote>;
    case "references":
      return <p class="reference">{inner}</p>;
    default:
      return <p>{inner}</p>;
  }
}

function Table({ rows, open, onOpen }: { rows: Block[] } & Opening) {
  const separator = (block: Block) => block.cells.every((cell) => /^[\s:|-]*$/.test(cell.map((piece) => piece.text).join("")));
  return (
    <div class="wide">
      <table>
        <tbody>
          {rows.filter((row) => !separator(row)).map((row, number) => (
            <tr key={number}>
              {row.cells.map((cell, at) => {
                const inner = <Pieces pieces={cell} open={open} onOpen={onOpen} />;
                return number === 0 ? <th key={at}>{inner}</th> : <td key={at}>{inner}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Pieces({ pieces, open, onOpen }: { pieces: Piece[] } & Opening) {
  const out: preact.ComponentChild[] = [];
  for (let at = 0; at < pieces.length; ) {
    const notes = pieces[at]!.notes;
    let end = at + 1;
    while (end < pieces.length && sameNotes(pieces[end]!.notes, notes)) end++;
    const inner = pieces.slice(at, end).map((piece, number) => <Plain key={number} piece={piece} />);
    out.push(notes.length ? <Marked key={at} notes={notes} open={open} onOpen={onOpen}>{inner}</Marked> : inner);
    at = end;
  }
  return <>{out}</>;
}

const sameNotes = (one: Note[], other: Note[]) => one.length === other.length && one.every((note, at) => note === other[at]);

function Marked({ notes, open, onOpen, children }: { notes: Note[]; children: preact.ComponentChild } & Opening) {
  const worst = notes.reduce((a, b) => (b.rank < a.rank ? b : a));
  const key = (note: Note) => `${note.metric}|${note.item}`;
  const at = notes.findIndex((note) => key(note) === open);
  const next = at >= 0 ? notes[(at + 1) % notes.length]! : worst;
  return (
    <mark
      class={`${(at >= 0 ? notes[at]! : worst).tone}${at >= 0 ? " chosen" : ""}`}
      data-items={notes.map(key).join("\n")}
      onClick={(event) => {
        if (event.target instanceof Element && event.target.closest("a")) return;
        if (!getSelection()?.toString()) onOpen(next.metric, next.item);
      }}
    >
      {children}
    </mark>
  );
}

function Plain({ piece }: { piece: Piece }) {
  const { text, classes, href } = piece;
  if (href) return <Out href={href} class={classes}>{text}</Out>;
  if (!classes) return <>{text}</>;
  if (classes.includes("strong")) return <strong class={classes}>{text}</strong>;
  if (classes.includes("em")) return <em class={classes}>{text}</em>;
  return <span class={classes}>{text}</span>;
}
