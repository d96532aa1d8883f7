// From a report's text to what is drawn: segments as blocks, light Markdown, citation marks as links, notes as marks.
// Offsets from outside count characters; JavaScript counts UTF-16 units. `Offsets` turns one into the other.
import type { ReportPart } from "./data";

export class Offsets {
  private places: Uint32Array | null = null;

  constructor(readonly text: string) {
    if (/[\ud800-\udbff]/.test(text)) {
      const places: number[] = [];
      for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) places.push(at);
      this.places = Uint32Array.from(places);
    }
  }

  /** UTF-16 place of the character with this number. */
  at(character: number): number {
    if (!this.places) return Math.min(character, this.text.length);
    return this.places[character] ?? this.text.length;
  }
}

/** A stretch of the report that something was found out about. */
export interface Note {
  start: number;
  end: number;
  metric: string;
  item: string;
  tone: string;
  rank: number;
}

/** A run of characters that is drawn alike. */
export interface Piece {
  text: string;
  classes: string;
  href: string | null;
  notes: Note[];
}

export interface Block {
  kind: string;
  level: number;
  marker: string;
  cells: Piece[][];
}

interface Style {
  start: number;
  end: number;
  name: string;
  href?: string;
}

interface Inline {
  hidden: [number, number][];
  styles: Style[];
  marker: string;
  level: number;
}

/** Everything of the report as blocks, in order; text between segments is kept unless it is only layout. */
export function blocksOf(report: ReportPart, notes: readonly Note[]): Block[] {
  const offsets = new Offsets(report.text);
  const targets = new Map(report.sources.map((source) => [source.id, source.target]));
  const marks: Style[] = report.marks.map(([start, end, sources]) => ({
    start: offsets.at(start),
    end: offsets.at(end),
    name: "cite",
    href: sources.map((id) => targets.get(id)).find(Boolean) ?? undefined,
  }));
  const placed = notes
    .map((note) => ({ ...note, start: offsets.at(note.start), end: offsets.at(note.end) }))
    .sort((a, b) => a.start - b.start);
  const blocks: Block[] = [];
  let last = 0;
  for (const [kind, from, to] of report.segments) {
    const [start, end] = [offsets.at(from), offsets.at(to)];
    if (start > last) addGap(blocks, report.text.slice(last, start));
    if (end > last) blocks.push(blockOf(report.text, kind, Math.max(start, last), end, marks, placed));
    last = Math.max(last, end);
  }
  addGap(blocks, report.text.slice(last));
  return blocks;
}

function addGap(blocks: Block[], text: string): void {
  if (!/[\p{L}\p{N}]/u.test(text)) return;
  blocks.push({ kind: "paragraph", level: 0, marker: "", cells: [[{ text: text.trim(), classes: "aside", href: null, notes: [] }]] });
}

function blockOf(text: string, kind: string, start: number, end: number, marks: Style[], notes: Note[]): Block {
  const raw = text.slice(start, end);
  const inline = kind === "code" || kind === "math" ? plain(raw, start) : inlineOf(raw, start, kind);
  const within = (one: { start: number; end: number }) => one.start < end && one.end > start;
  const linked = inline.styles.filter((style) => style.href);
  const here = marks.filter((mark) => within(mark) && !linked.some((s) => s.start < mark.end && s.end > mark.start));
  const styles = [...inline.styles, ...here];
  const near = notes.filter(within);
  const spans = kind === "table_row" ? cellSpans(text, start, end) : [[start, end] as [number, number]];
  return {
    kind,
    level: inline.level,
    marker: inline.marker,
    cells: spans.map(([from, to]) => piecesOf(text, from, to, inline.hidden, styles, near)),
  };
}

function cellSpans(text: string, start: number, end: number): [number, number][] {
  const cells: [number, number][] = [];
  let from = start;
  for (let at = start; at <= end; at++) {
    if (at < end && (text[at] !== "|" || text[at - 1] === "\\")) continue;
    cells.push([from, at]);
    from = at + 1;
  }
  const blank = ([a, b]: [number, number]) => !text.slice(a, b).trim();
  if (cells.length > 1 && blank(cells[0]!)) cells.shift();
  if (cells.length > 1 && blank(cells[cells.length - 1]!)) cells.pop();
  return cells;
}

function plain(raw: string, at: number): Inline {
  const fence = /^(```|~~~)[^\n]*\n/.exec(raw);
  const close = /\n(```|~~~)\s*$/.exec(raw);
  const hidden: [number, number][] = [];
  if (fence) hidden.push([at, at + fence[0].length]);
  if (fence && close) hidden.push([at + close.index, at + raw.length]);
  return { hidden, styles: [], marker: "", level: 0 };
}

const LEAD: Record<string, RegExp> = {
  heading: /^\s*#{1,6}\s+/,
  list_item: /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/,
  quote: /^\s*>\s?/,
};

/** The patterns of Markdown that reports use; each gives what is hidden and how the rest is drawn. */
const PATTERNS: [RegExp, string, number][] = [
  [/(?<!!)\[([^\][\n]{1,400})\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?:\s+"[^"\n]*")?\s*\)/g, "link", 1],
  [/!\[([^\]\n]{0,200})\]\([^)\n]*\)/g, "image", 1],
  [/\*\*(?=\S)([^*\n]{1,2000}?\S|\S)\*\*/g, "strong", 2],
  [/(?<![\p{L}\p{N}_])__(?=\S)([^_\n]{1,2000}?)__(?![\p{L}\p{N}_])/gu, "strong", 2],
  [/(?<![*\p{L}\p{N}])\*(?=[^\s*])([^*\n]{1,2000}?)\*(?!\*)/gu, "em", 1],
  [/(?<![\p{L}\p{N}_])_(?=[^\s_])([^_\n]{1,2000}?)_(?![\p{L}\p{N}_])/gu, "em", 1],
  [/`([^`\n]{1,500})`/g, "mono", 1],
];

function inlineOf(raw: string, at: number, kind: string): Inline {
  const found: Inline = { hidden: [], styles: [], marker: "", level: kind === "heading" ? 2 : 0 };
  const lead = LEAD[kind]?.exec(raw);
  if (lead) {
    found.hidden.push([at, at + lead[0].length]);
    if (kind === "heading") found.level = lead[0].trim().length;
    if (kind === "list_item") found.marker = /\d/.test(lead[0]) ? lead[0].trim() : "•";
    if (kind === "list_item") found.level = Math.min(4, Math.floor(/^\s*/.exec(lead[0])![0].replace(/\t/g, "  ").length / 2));
  }
  const under = kind === "heading" ? /\n[=-]+\s*$/.exec(raw) : null;
  if (under) found.hidden.push([at + under.index, at + raw.length]);
  if (kind === "quote") for (const more of raw.matchAll(/\n\s*>\s?/g)) found.hidden.push([at + more.index + 1, at + more.index + more[0].length]);
  for (const [pattern, name, width] of PATTERNS) addPattern(found, raw, at, pattern, name, width);
  for (const bare of raw.matchAll(/https?:\/\/[^\s<>"'`)\]|，。）]+/g)) addBare(found, at + bare.index, bare[0]);
  return found;
}

function addPattern(found: Inline, raw: string, at: number, pattern: RegExp, name: string, width: number): void {
  for (const match of raw.matchAll(pattern)) {
    const start = at + match.index;
    const end = start + match[0].length;
    if (name === "image") {
      found.hidden.push([start, start + 2], [start + 2 + match[1]!.length, end]);
      found.styles.push({ start, end, name: "image" });
      continue;
    }
    const inner = start + width;
    const stop = inner + match[1]!.length;
    found.hidden.push([start, inner], [stop, end]);
    found.styles.push({ start: inner, end: stop, name, href: name === "link" ? match[2] : undefined });
  }
}

function addBare(found: Inline, start: number, url: string): void {
  const trimmed = url.replace(/[.,;:!?]+$/, "");
  const end = start + trimmed.length;
  if (found.hidden.some(([a, b]) => start >= a && start < b) || found.styles.some((s) => s.href && start < s.end && end > s.start)) return;
  found.styles.push({ start, end, name: "link", href: trimmed });
}

function piecesOf(text: string, start: number, end: number, hidden: [number, number][], styles: Style[], notes: Note[]): Piece[] {
  const cuts = new Set([start, end]);
  const cut = (at: number) => at > start && at < end && cuts.add(at);
  for (const [a, b] of hidden) cut(a), cut(b);
  for (const one of [...styles, ...notes]) cut(one.start), cut(one.end);
  const places = [...cuts].sort((a, b) => a - b);
  const pieces: Piece[] = [];
  for (let n = 0; n + 1 < places.length; n++) {
    const [a, b] = [places[n]!, places[n + 1]!];
    if (hidden.some(([from, to]) => a >= from && b <= to)) continue;
    const on = styles.filter((style) => a >= style.start && b <= style.end);
    pieces.push({
      text: text.slice(a, b),
      classes: [...new Set(on.map((style) => style.name))].join(" "),
      href: on.find((style) => style.href)?.href ?? null,
      notes: notes.filter((note) => a >= note.start && b <= note.end),
    });
  }
  return pieces;
}

/** Where the pieces of a quote lie in a kept stretch of a page; both in characters of the page. */
export function cutAt(text: string, start: number, spans: readonly [number, number][]): { text: string; hit: boolean }[] {
  const offsets = new Offsets(text);
  const out: { text: string; hit: boolean }[] = [];
  let last = 0;
  for (const [from, to] of spans) {
    const [a, b] = [offsets.at(Math.max(0, from - start)), offsets.at(Math.max(0, to - start))];
    if (b <= last) continue;
    if (a > last) out.push({ text: text.slice(last, a), hit: false });
    out.push({ text: text.slice(Math.max(a, last), b), hit: true });
    last = b;
  }
  if (last < text.length) out.push({ text: text.slice(last), hit: false });
  return out;
}
