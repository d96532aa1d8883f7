// One report: its text with claims marked by outcome, and beside it the metrics, the findings and one item in full.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Bar } from "./charts";
import type { Claim, Head, Index, Item, ReportPart, Unit, Worst } from "./data";
import { ItemView } from "./evidence";
import { notesOf, scaleOf, verdictOf, worstFirst } from "./items";
import { Reader } from "./reader";
import { go, href, type Route } from "./route";
import { byVertical, taskOf, titleOf } from "./run";
import { loadCalls, loadPages, loadReport } from "./store";
import { Badge, Choice, Flags, Folded, NotHere, Out, reveal, useKeys, useLoaded } from "./ui";
import { ASKS, inWords, plural, score } from "./words";

interface Props {
  index: Index;
  run: number;
  route: Route;
  change: (changes: Record<string, string>, push?: boolean) => void;
}

export function ReportPage({ index, run, route, change }: Props) {
  const head = index.runs[run]!;
  const [task = "", system = ""] = route.path;
  const number = head.reports.findIndex(([t, s]) => t === task && s === system);
  const { value: report, failed } = useLoaded(() => loadReport(run, number), [run, number]);
  if (number < 0) return <main><p class="empty">There is no report of this system on this task here. <a href="#/">All reports</a></p></main>;
  if (failed) return <main><Top head={head} run={run} task={task} system={system} number={number} /><NotHere what="This report" failed={failed} /></main>;
  if (!report) return <main aria-busy="true" class="loading"><p class="dim">…</p></main>;
  return <Loaded key={number} {...{ index, run, route, change, head, number, report }} />;
}

interface LoadedProps extends Props {
  head: Head;
  number: number;
  report: ReportPart;
}

/** A finding or an item in the list beside the text. */
interface Entry {
  metric: string;
  item: Item;
  worst?: Worst;
}

function Loaded({ index, run, route, change, head, number, report }: LoadedProps) {
  const [task, system] = head.reports[number]!;
  const judge = head.judges.includes(route.query.judge ?? "") ? route.query.judge! : head.judges[0]!;
  const repeat = Number(route.query.repeat) || 0;
  const units = useMemo(() => inOrder(index, head, report.units.filter((unit) => unit.judge === judge && unit.repeat === repeat)), [report, judge, repeat]);
  const { metric = "", item: wanted = "", only = "" } = route.query;
  const unit = units.find((one) => one.metric === metric);
  const entries = useMemo(() => (unit ? worstFirst(unit).map(({ item }) => ({ metric, item })) : findings(units)), [units, unit]);
  const shown = only && unit ? entries.filter((entry) => verdictOf(metric, entry.item).word === only) : entries;
  const notes = useMemo(() => (unit ? notesOf(unit, report) : units.flatMap((one) => notesOf(one, report)).filter((note) => note.tone === "bad")), [units, unit, report]);
  const open = unit?.items?.find((one) => one.id === wanted);
  const { value: pages } = useLoaded(() => loadPages(run, number), [run, number]);
  const { value: calls } = useLoaded(() => loadCalls(run, number), [run, number]);
  const panel = useRef<HTMLElement>(null);
  const show = (next: string, id: string) => change({ metric: next, item: id, only: next === metric ? only : "" });

  const text = useMemo(() => <Reader report={report} notes={notes} open={`${metric}|${wanted}`} onOpen={show} />, [report, notes, metric, wanted, only]);

  useEffect(() => {
    const key = `${metric}|${wanted}`;
    const marks = [...document.querySelectorAll(".reader mark")];
    document.body.classList.toggle("item-open", open !== undefined);
    if (open) reveal(marks.find((mark) => mark.getAttribute("data-items")?.split("\n").includes(key)));
    if (panel.current) panel.current.scrollTop = 0;
    return () => document.body.classList.remove("item-open");
  }, [open, metric, wanted]);

  const at = shown.findIndex((entry) => entry.metric === metric && entry.item.id === wanted);
  const step = (by: number) => {
    const next = shown[Math.max(0, Math.min(shown.length - 1, at < 0 && by > 0 ? 0 : at + by))];
    if (next && unit) change({ item: next.item.id }, false);
    else if (next) show(next.metric, next.item.id);
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Enter: () => open && document.querySelector<HTMLElement>(".item .under button")?.click(),
    Escape: () => (open ? change({ item: "" }) : metric ? change({ metric: "", only: "" }) : go(href("", [], { run: run ? String(run) : "", row: String(number) }))),
  });

  const claims = useMemo(() => new Map(report.claims.map((claim) => [claim.id, claim])), [report]);
  const asked = (id = "") => (head.protocols[task] === undefined ? "" : href("protocol", [task], { run: run ? String(run) : "", q: id }));
  const trace = (of: Unit) => href("trace", [task, system, of.metric], { run: run ? String(run) : "", judge: of.judge === head.judges[0] ? "" : of.judge, repeat: repeat ? String(repeat) : "", item: wanted });
  return (
    <main class="report">
      <Top head={head} run={run} task={task} system={system} number={number} />
      <Lenses index={index} units={units} metric={metric} found={findings(units).length} change={change} />
      {(head.judges.length > 1 || head.repeats > 1) && (
        <div class="controls">
          {head.judges.length > 1 && <Choice label="Judge" value={judge} options={head.judges.map((name) => [name, name])} onChange={(value) => change({ judge: value === head.judges[0] ? "" : value })} />}
          {head.repeats > 1 && <Choice label="Time" value={String(repeat)} options={Array.from({ length: head.repeats }, (_, n) => [String(n), `${n + 1} of ${head.repeats}`])} onChange={(value) => change({ repeat: value === "0" ? "" : value })} />}
        </div>
      )}
      <div class="columns">
        <div class="text">
          {text}
          <Sources report={report} />
        </div>
        <aside ref={panel} aria-label="What was found">
          {open && unit ? (
            <>
              <nav class="item-nav">
                <button onClick={() => change({ item: "" })}>← {titleOf(index, metric)}</button>
                <span class="dim">{at >= 0 ? `${at + 1} of ${shown.length}` : ""}</span>
                <button onClick={() => step(-1)} disabled={at <= 0} aria-label="Previous">↑</button>
                <button onClick={() => step(1)} disabled={at >= shown.length - 1} aria-label="Next">↓</button>
              </nav>
              <ItemView key={open.id} unit={unit} item={open} claim={claimOf(open, claims)} pages={pages} calls={calls} trace={trace(unit)} asked={index.metrics[metric]?.adaptive ? asked(open.id) : ""} also={alsoOn(index, units, unit, open, claims)} onOpen={show} />
            </>
          ) : unit ? (
            <UnitList index={index} unit={unit} entries={shown} only={only} change={change} trace={trace(unit)} protocol={index.metrics[unit.metric]?.adaptive ? asked() : ""} onOpen={show} />
          ) : (
            <Findings index={index} units={units} entries={shown} report={report} onOpen={show} change={change} />
          )}
        </aside>
      </div>
    </main>
  );
}

function inOrder(index: Index, head: Head, units: Unit[]): Unit[] {
  const order = byVertical(index, head.metrics).flatMap(([, metrics]) => metrics);
  return [...units].sort((a, b) => order.indexOf(a.metric) - order.indexOf(b.metric));
}

const KINDS = ["contradicted claim", "citation that does not hold", "dead citation", "reasoning flaw", "missing key fact"];

/** What is wrong with the report, over all metrics, worst kind first. */
function findings(units: Unit[]): Entry[] {
  const entries = units.flatMap((unit) =>
    unit.worst.flatMap((worst) => {
      const item = unit.items?.find((one) => one.id === worst.item);
      return item ? [{ metric: unit.metric, item, worst }] : [];
    }),
  );
  const place = (entry: Entry) => (KINDS.indexOf(entry.worst!.kind) + KINDS.length + 1) % (KINDS.length + 1);
  return entries.sort((a, b) => place(a) - place(b));
}

function claimOf(item: Item, claims: Map<string, Claim>): Claim | undefined {
  return claims.get(String(item.detail?.claim ?? item.id));
}

/** What other metrics say of the same claim. */
function alsoOn(index: Index, units: Unit[], unit: Unit, item: Item, claims: Map<string, Claim>) {
  const claim = claimOf(item, claims);
  if (!claim) return [];
  return units
    .filter((one) => one.metric !== unit.metric)
    .flatMap((one) => (one.items ?? []).filter((other) => claimOf(other, claims) === claim).map((other) => ({ metric: one.metric, title: titleOf(index, one.metric), item: other })));
}

function Top({ head, run, task, system, number }: { head: Head; run: number; task: string; system: string; number: number }) {
  const link = (by: number) => {
    const next = head.reports[number + by];
    return next ? href("report", next, { run: run ? String(run) : "" }) : null;
  };
  const back = href("", [], { run: run ? String(run) : "" });
  return (
    <header class="title">
      <p class="crumbs">
        <a href={back}>{head.name}</a> {head.tasks.length > 1 && <span dir="auto">/ {task}</span>}
        <span class="around">
          {link(-1) && <a href={link(-1)!}>← previous report</a>} {link(1) && <a href={link(1)!}>next report →</a>}
        </span>
      </p>
      <h1 dir="auto" title={system.slice(0, 300)}>{system}</h1>
      <Folded class="prompt" text={taskOf(head, task)?.prompt ?? ""} lines={2} />
    </header>
  );
}

/** The metrics as a row of switches: what is chosen is marked in the text. */
function Lenses({ index, units, metric, found, change }: { index: Index; units: Unit[]; metric: string; found: number; change: Props["change"] }) {
  return (
    <nav class="lenses" aria-label="Metrics">
      <button aria-pressed={!metric} onClick={() => change({ metric: "", item: "", only: "" })}>
        <span>All findings</span>
        <b>{found}</b>
        <small>worst first</small>
      </button>
      {units.map((unit) => (
        <button key={unit.metric} aria-pressed={unit.metric === metric} title={ASKS[unit.metric]} onClick={() => change({ metric: unit.metric, item: "", only: "" })} class={unit.flags?.includes("thin") ? "thin" : ""}>
          <span>{titleOf(index, unit.metric)}</span>
          {unit.score != null ? (
            <>
              <b>{score(unit.score)}</b>
              <Bar value={unit.score} whisker={unit.interval ? { ...unit.interval, range: unit.interval.kind === "range" } : null} />
            </>
          ) : (
            <>
              <b class={unit.status === "failed" ? "bad" : "dim"}>{unit.status === "failed" ? "failed" : "n/a"}</b>
              <small>{inWords(unit.reason ?? "")}</small>
            </>
          )}
        </button>
      ))}
    </nav>
  );
}

// --- the panel -------------------------------------------------------------------------------------------------------

function Findings({ index, units, entries, report, onOpen, change }: { index: Index; units: Unit[]; entries: Entry[]; report: ReportPart; onOpen: (metric: string, item: string) => void; change: Props["change"] }) {
  const failed = units.filter((unit) => unit.status === "failed");
  return (
    <>
      <h2>What is wrong with it</h2>
      {entries.length === 0 && <p class="dim">Nothing was found. What was checked stands under each metric above.</p>}
      <ol class="entries">
        {entries.map((entry, number) => (
          <li key={number}>
            <button onClick={() => onOpen(entry.metric, entry.item.id)}>
              <span class="label bad">{entry.worst!.kind}{entry.worst!.flaw ? `: ${entry.worst!.flaw}` : ""}{entry.worst!.note === "outdated" ? ", outdated" : ""}</span>
              <span class="words" dir="auto">{entry.worst!.text}</span>
              {entry.worst!.quote && <span class="said" dir="auto">“{entry.worst!.quote.slice(0, 240)}”</span>}
            </button>
          </li>
        ))}
      </ol>
      {failed.map((unit) => (
        <p key={unit.metric} class="bad">{titleOf(index, unit.metric)} failed: {inWords(unit.reason ?? "")}</p>
      ))}
      {report.findings.length > 0 && (
        <details>
          <summary>{plural(report.findings.length, "remark")} on its form</summary>
          <ul class="plain">
            {report.findings.slice(0, 100).map((one, number) => (
              <li key={number} dir="auto">{one.message} <small>{inWords(one.rule)}</small></li>
            ))}
          </ul>
        </details>
      )}
      {report.cuts > 0 && <p class="dim">{report.cuts.toLocaleString("en")} characters of interface debris were cut before judging.</p>}
      <p class="dim">Choose a metric above to see all of its items: <button class="quiet" onClick={() => change({ metric: units[0]?.metric ?? "" })}>{units[0] ? titleOf(index, units[0].metric) : ""}</button></p>
    </>
  );
}

function UnitList(props: { index: Index; unit: Unit; entries: Entry[]; only: string; change: Props["change"]; trace: string; protocol: string; onOpen: (metric: string, item: string) => void }) {
  const { index, unit, entries, only, change } = props;
  const counts = new Map<string, { tone: string; n: number }>();
  for (const { verdict } of worstFirst(unit)) counts.set(verdict.word, { tone: verdict.tone, n: (counts.get(verdict.word)?.n ?? 0) + 1 });
  return (
    <>
      <h2>
        {titleOf(index, unit.metric)} <span class="big">{unit.score != null ? score(unit.score) : unit.status === "failed" ? "failed" : "n/a"}</span>
      </h2>
      <p class="dim">{ASKS[unit.metric]}</p>
      {unit.status !== "scored" && <p class={unit.status === "failed" ? "bad" : "dim"}>{inWords(unit.reason ?? "")}</p>}
      <Sure unit={unit} />
      <Flags flags={unit.flags} />
      <Parts unit={unit} />
      {counts.size > 1 && (
        <div class="filters" role="group" aria-label="Show only">
          {[...counts].map(([word, { tone, n }]) => (
            <button key={word} class={`badge ${tone}`} aria-pressed={only === word} onClick={() => change({ only: only === word ? "" : word }, false)}>
              {word} {n}
            </button>
          ))}
        </div>
      )}
      <ol class="entries">
        {entries.map(({ item }) => (
          <li key={item.id}>
            <button onClick={() => props.onOpen(unit.metric, item.id)}>
              <Badge verdict={verdictOf(unit.metric, item)} />
              <span class="words" dir="auto">{item.text}</span>
              <small class="dim">{[scaleOf(unit.metric, item) && item.outcome ? scaleOf(unit.metric, item) : "", inWords(item.reason ?? "").slice(0, 140), typeof item.detail?.url === "string" && unit.metric !== "kic" ? item.detail.url.replace(/^https?:\/\/(www\.)?/, "").slice(0, 70) : ""].filter(Boolean).join(" · ")}</small>
            </button>
          </li>
        ))}
      </ol>
      {(unit.items ?? []).length === 0 && <p class="dim">This metric has no single items here.</p>}
      <p class="links">
        <a href={props.trace}>Every step and call</a>
        {props.protocol && <a href={props.protocol}>Where these questions come from</a>}
      </p>
    </>
  );
}

const INTERVALS: Record<string, string> = { wilson: "95 % interval", bootstrap: "95 % interval", range: "range of its items" };

function Sure({ unit }: { unit: Unit }) {
  const parts: string[] = [];
  if (unit.interval) parts.push(`${INTERVALS[unit.interval.kind] ?? unit.interval.kind} ${score(unit.interval.low)} to ${score(unit.interval.high)}`);
  if (unit.coverage) parts.push(`${unit.coverage.decided} of ${unit.coverage.checked} decided`);
  return parts.length ? <p class="sure">{parts.join(" · ")}</p> : null;
}

const PARTS: Record<string, string> = {
  ca: "claims with a citation",
  cf: "citations that hold",
  cf_low: "citations that hold, unread pages counted as failing",
  ci_low: "the score, unread pages counted as failing",
  unread_rate: "cited pages that could not be read, %",
  by_citation: "mean over citations",
  answered: "questions answered, %",
  low: "open questions counted as no",
  high: "open questions counted as yes",
};

function Parts({ unit }: { unit: Unit }) {
  const items = new Set((unit.items ?? []).map((item) => item.id));
  const parts = Object.entries(unit.parts ?? {}).filter(([name]) => !items.has(name) && !/_(from|to)$/.test(name));
  if (!parts.length) return null;
  return (
    <dl class="pairs small">
      {parts.map(([name, value]) => (
        <>
          <dt>{PARTS[name] ?? name.replaceAll("_", " ")}</dt>
          <dd>{score(value)}</dd>
        </>
      ))}
    </dl>
  );
}

function Sources({ report }: { report: ReportPart }) {
  const listed = report.sources.filter((source) => source.target);
  if (!listed.length) return null;
  return (
    <details class="sources">
      <summary>{plural(listed.length, "source")} named in the report</summary>
      <ol>
        {listed.map((source) => (
          <li key={source.id}>
            {source.label && <span class="dim">[{source.label}] </span>}
            <Out href={source.target}>{source.title || source.target}</Out>
          </li>
        ))}
      </ol>
    </details>
  );
}
