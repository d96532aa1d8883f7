// The first page: every score with how sure it is, what it cost, what failed.
import { useMemo, useRef } from "preact/hooks";
import { About, Failures, Plots } from "./around";
import { Bar } from "./charts";
import type { Cell, Head, Index } from "./data";
import { go, type Route } from "./route";
import { byVertical, countsOf, meanOf, reportHref, type Row, rowsOf, taskOf, thin, titleOf } from "./run";
import { Choice, Folded, reveal, useKeys } from "./ui";
import { ASKS, day, inWords, money, plural, score, seconds, stateWord } from "./words";

type Change = (changes: Record<string, string>, push?: boolean) => void;
interface Props {
  index: Index;
  run: number;
  route: Route;
  change: Change;
}

const ROWS = 60;

export function Overview({ index, run, route, change }: Props) {
  const head = index.runs[run]!;
  const judge = Math.max(0, head.judges.indexOf(route.query.judge ?? ""));
  const rows = useMemo(() => rowsOf(head, judge), [head, judge]);
  return (
    <main class="overview">
      <Title head={head} />
      <Facts head={head} />
      <Notices index={index} head={head} run={run} />
      {head.judges.length > 1 && (
        <div class="controls">
          <Choice label="Judge" value={head.judges[judge]!} options={head.judges.map((name) => [name, name])} onChange={(value) => change({ judge: value })} />
        </div>
      )}
      {head.tasks.length > 1 && head.systems.length > 0 && <Systems index={index} head={head} judge={judge} rows={rows} route={route} change={change} />}
      <Reports index={index} head={head} run={run} rows={rows} route={route} change={change} />
      <Plots index={index} head={head} judge={judge} rows={rows} />
      <Failures index={index} head={head} run={run} />
      <About index={index} head={head} run={run} />
    </main>
  );
}

function Title({ head }: { head: Head }) {
  const [task] = head.tasks;
  const judges = head.judges.length > 3 ? plural(head.judges.length, "judge") : head.judges.join(", ");
  return (
    <header class="title">
      <h1>{head.name}</h1>
      <p class="lead">
        {plural(head.reports.length, "report")} by {plural(head.systems.length, "system")} on {plural(head.tasks.length, "task")}, judged by <b>{judges}</b> as of{" "}
        <b>{day(head.as_of)}</b>
        {head.as_of_given ? "" : " (the day of the run)"}.
      </p>
      {head.tasks.length === 1 && task && <Folded class="prompt" text={task.prompt} lines={2} />}
    </header>
  );
}

function Facts({ head }: { head: Head }) {
  const counts = countsOf(head);
  const totals = head.totals;
  const facts: [string, string, string][] = [
    ["Scored", `${counts.scored.toLocaleString("en")} of ${(counts.expected - counts.none).toLocaleString("en")}`, counts.none ? `${plural(counts.none, "unit")} not applicable` : "units that apply"],
  ];
  if (totals) {
    const cost = totals.cost_usd === null ? "unknown" : money(totals.cost_usd);
    facts.push(["Cost", cost, totals.cost_usd === null ? `no price for ${totals.unpriced.length} endpoint(s)` : "of this run's own calls"]);
    facts.push(["Calls", (totals.made + totals.reused).toLocaleString("en"), `${totals.reused.toLocaleString("en")} answers reused, ${totals.failed.toLocaleString("en")} failed`]);
    facts.push(["Tokens", (totals.prompt_tokens + totals.completion_tokens).toLocaleString("en"), `${totals.completion_tokens.toLocaleString("en")} of them written`]);
    facts.push(["Time in calls", seconds(totals.seconds), "calls at the same time add up"]);
  }
  return (
    <dl class="facts">
      {facts.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            <small>{more}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Notices({ index, head, run }: { index: Index; head: Head; run: number }) {
  const below = head.reports.filter((_, number) => {
    const cells = head.cells[number] ?? [];
    const expected = head.metrics.length * head.judges.length * head.repeats - cells.filter((cell) => cell[3] === "n").length;
    return head.state === "finished" && expected > 0 && cells.filter((cell) => cell[3] === "s").length / expected < head.floor;
  });
  const notes: preact.ComponentChild[] = [];
  if (head.state !== "finished" && !(head.state === "unknown" && head.cells.flat().length >= countsOf(head).expected)) notes.push(<>This run is {stateWord(head.state)}{head.reason ? `: ${head.reason}` : ""}. The same command continues it.</>);
  for (const one of head.agreement)
    notes.push(
      <>
        How far <b>{one.judge}</b> agrees with people on “{one.what}”: {one.measure} {one.value.toFixed(2)}
        {one.chance !== null && `, by guessing ${one.chance.toFixed(2)}`} <small>{one.n.toLocaleString("en")} labels, {one.data}</small>
      </>,
    );
  if (below.length)
    notes.push(
      <>
        Less than {Math.round(head.floor * 100)} % scored, not to be ranked:{" "}
        {below.slice(0, 8).map(([task, system], n) => (
          <>
            {n > 0 && ", "}
            <a href={reportHref(run, task, system)}>{head.tasks.length > 1 ? `${system} on ${task}` : system}</a>
          </>
        ))}
        {below.length > 8 && ` and ${below.length - 8} more`}.
      </>,
    );
  const same = sameForAll(head);
  if (same.length) notes.push(<>Every report has the same score for {same.map((metric) => titleOf(index, metric)).join(", ")}: here this judge does not tell them apart.</>);
  if (head.no_ledger) notes.push(<>Stored pages and calls are not shown: {head.no_ledger}. Quotes are kept with the results.</>);
  if (!notes.length) return null;
  return (
    <ul class="notices">
      {notes.map((note, number) => (
        <li key={number}>{note}</li>
      ))}
    </ul>
  );
}

/** Metrics that give several reports of different systems one and the same score. */
function sameForAll(head: Head): string[] {
  return head.metrics.filter((_, metric) => {
    const scores = head.cells.flat().filter((cell) => cell[0] === metric && cell[4] !== null).map((cell) => cell[4]);
    return scores.length > 2 && head.systems.length > 1 && new Set(scores).size === 1;
  });
}

// --- tables -----------------------------------------------------------------------------------------------------------

function Heads(props: { index: Index; head: Head; first: string; sort: string; dir: string; change: Change }) {
  const { index, head, sort, dir, change } = props;
  const groups = byVertical(index, head.metrics);
  const by = (name: string) => change({ sort: name, dir: sort === name && dir !== "up" ? "up" : "" }, false);
  const mark = (name: string) => (sort === name ? (dir === "up" ? " ↑" : " ↓") : "");
  const state = (name: string) => (sort === name ? (dir === "up" ? "ascending" : "descending") : undefined);
  return (
    <thead>
      <tr class="verticals">
        <th />
        {groups.map(([vertical, metrics]) => (
          <th key={vertical} colSpan={metrics.length} scope="colgroup">
            {vertical}
          </th>
        ))}
      </tr>
      <tr>
        <th scope="col" aria-sort={state("name")}>
          <button onClick={() => by("name")}>
            {props.first}
            {mark("name")}
          </button>
        </th>
        {groups.flatMap(([, metrics]) =>
          metrics.map((metric) => (
            <th key={metric} scope="col" aria-sort={state(metric)} title={ASKS[metric]}>
              <button onClick={() => by(metric)}>
                {titleOf(index, metric)}
                {mark(metric)}
              </button>
            </th>
          )),
        )}
      </tr>
    </thead>
  );
}

function order<T>(rows: T[], key: (row: T) => number | string | null, dir: string): T[] {
  const sign = dir === "up" ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return typeof x === "string" ? -sign * x.localeCompare(String(y)) : sign * (x - Number(y));
  });
}

function Systems({ index, head, judge, rows, route, change }: { index: Index; head: Head; judge: number; rows: Row[]; route: Route; change: Change }) {
  const metrics = byVertical(index, head.metrics).flatMap(([, names]) => names);
  const means = new Map(head.means.filter((mean) => mean[2] === head.judges[judge]).map((mean) => [`${mean[0]}\n${mean[1]}`, mean]));
  const { sort = "", dir = "" } = route.query;
  const shown = sort && sort !== "name" ? order(head.systems, (system) => means.get(`${system}\n${sort}`)?.[3] ?? null, dir) : head.systems;
  const tasks = new Map<string, number>();
  for (const row of rows) tasks.set(row.system, (tasks.get(row.system) ?? 0) + 1);
  return (
    <section>
      <h2>Systems</h2>
      <p class="hint">Mean over tasks with its 95 % interval, from six tasks on. Scores on few items are left out. A mean leads to its reports.</p>
      <div class="wide">
        <table class="scores">
          <Heads index={index} head={head} first="System" sort={sort} dir={dir} change={change} />
          <tbody>
            {shown.map((system) => (
              <tr key={system}>
                <th scope="row" dir="auto" title={system.slice(0, 300)}>
                  <a href="#" onClick={(event) => (event.preventDefault(), change({ system: route.query.system === system ? "" : system }))}>
                    {system}
                  </a>
                </th>
                {metrics.map((metric) => {
                  const mean = means.get(`${system}\n${metric}`);
                  const all = tasks.get(system) ?? 0;
                  if (!mean) return <td key={metric} class="none" data-name={titleOf(index, metric)}>–</td>;
                  const whisker = mean[4] !== null && mean[5] !== null ? { low: mean[4], high: mean[5], range: mean[6] === "r" } : null;
                  return (
                    <td key={metric} data-name={titleOf(index, metric)}>
                      <a
                        href="#"
                        class={mean[7] ? "" : "thin"}
                        onClick={(event) => {
                          event.preventDefault();
                          change({ system, sort: metric, dir: "up" });
                          document.getElementById("reports")?.scrollIntoView({ behavior: "smooth" });
                        }}
                        title={`${score(mean[3])} over ${plural(mean[7], "task")}: show these reports, lowest first`}
                      >
                        <b>{score(mean[3])}</b>
                        <Bar value={mean[3]} whisker={whisker} />
                        <small>{mean[7] === 0 ? "on few items" : mean[7] < all ? `${mean[7]} of ${all} tasks` : plural(mean[7], "task")}</small>
                      </a>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Reports({ index, head, run, rows, route, change }: { index: Index; head: Head; run: number; rows: Row[]; route: Route; change: Change }) {
  const { sort = "", dir = "", q = "", system = "", show = "", row: picked = "" } = route.query;
  const search = useRef<HTMLInputElement>(null);
  const metrics = byVertical(index, head.metrics).flatMap(([, names]) => names);
  const places = metrics.map((metric) => head.metrics.indexOf(metric));
  const prompts = useMemo(() => new Map(head.tasks.map((task) => [task.id, task.prompt.toLowerCase()])), [head]);
  const found = useMemo(() => {
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = rows.filter((one) => {
      if (system && one.system !== system) return false;
      if (show === "failed" && !one.cells.flat().some((cell) => cell[3] === "f")) return false;
      if (show === "thin" && !one.cells.some(thin)) return false;
      const text = `${one.system} ${one.task}`.toLowerCase();
      return words.every((word) => text.includes(word) || prompts.get(one.task)?.includes(word));
    });
    if (!sort) return kept;
    const at = head.metrics.indexOf(sort);
    return order(kept, (one) => (at < 0 ? `${one.system} ${one.task}` : meanOf(one.cells[at])), dir);
  }, [rows, q, system, show, sort, dir]);
  const limit = Number(route.query.n) || ROWS;
  const at = found.findIndex((one) => String(one.number) === picked);
  const pick = (to: number) => {
    const next = found[Math.max(0, Math.min(found.length - 1, to))];
    if (!next) return;
    change({ row: String(next.number) }, false);
    requestAnimationFrame(() => reveal(document.querySelector("tr.picked")));
  };
  useKeys({
    j: () => pick(at + 1),
    k: () => pick(at < 0 ? 0 : at - 1),
    Enter: () => found[at] && go(reportHref(run, found[at]!.task, found[at]!.system, judgeQuery(head, route))),
    "/": () => search.current?.focus(),
    Escape: () => change({ q: "", system: "", show: "", row: "" }, false),
  });
  const many = rows.length > 6;
  const one = head.tasks.length === 1;
  return (
    <section id="reports">
      <div class="bar-head">
        <h2>{one ? "Scores" : "Reports"}</h2>
        {many && (
          <div class="controls">
            <input ref={search} type="search" placeholder="Filter by system or task" aria-label="Filter reports" value={q} onInput={(event) => change({ q: event.currentTarget.value, n: "" }, false)} />
            {!one && head.systems.length > 1 && (
              <Choice label="System" value={system} options={[["", "all"], ...head.systems.map((name) => [name, name] as [string, string])]} onChange={(value) => change({ system: value, n: "" })} />
            )}
            <Choice label="Show" value={show} options={[["", "all"], ["failed", "with failures"], ["thin", "on few items"]]} onChange={(value) => change({ show: value, n: "" })} />
          </div>
        )}
      </div>
      <p class="hint">
        {many && <b>{plural(found.length, "report")}. </b>}
        Each score runs from 0 to 100; the line is its 95 % interval, dashed where only a range can be given. A score leads to its evidence.
      </p>
      <div class="wide">
        <table class="scores">
          <Heads index={index} head={head} first={one ? "System" : "Report"} sort={sort} dir={dir} change={change} />
          <tbody>
            {found.slice(0, limit).map((one) => (
              <ReportRow key={one.number} index={index} head={head} run={run} row={one} places={places} picked={String(one.number) === picked} query={judgeQuery(head, route)} />
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p class="empty">No report matches. Escape shows all again.</p>}
      {found.length > limit && (
        <button class="more" onClick={() => change({ n: String(limit + 5 * ROWS) }, false)}>
          {plural(found.length - limit, "more report")}: show the next {Math.min(5 * ROWS, found.length - limit)}
        </button>
      )}
    </section>
  );
}

function judgeQuery(head: Head, route: Route): Record<string, string> {
  const { judge = "" } = route.query;
  return { judge: head.judges.indexOf(judge) > 0 ? judge : "" };
}

interface RowProps {
  index: Index;
  head: Head;
  run: number;
  row: Row;
  places: number[];
  picked: boolean;
  query: Record<string, string>;
}

function ReportRow({ index, head, run, row, places, picked, query }: RowProps) {
  const one = head.tasks.length === 1;
  return (
    <tr class={picked ? "picked" : ""}>
      <th scope="row" dir="auto">
        <a href={reportHref(run, row.task, row.system, query)} title={row.system.slice(0, 300)}>
          {row.system}
        </a>
        {!one && <small title={taskOf(head, row.task)?.prompt.slice(0, 300)}>{row.task}</small>}
      </th>
      {places.map((at) => (
        <td key={at} data-name={titleOf(index, head.metrics[at]!)}>
          <Scored cells={row.cells[at] ?? []} title={titleOf(index, head.metrics[at]!)} href={reportHref(run, row.task, row.system, { ...query, metric: head.metrics[at]! })} />
        </td>
      ))}
    </tr>
  );
}

/** One score in a table: number, interval, how many items decided; or why there is none. */
function Scored({ cells, href, title }: { cells: Cell[]; href: string; title: string }) {
  const [first] = cells;
  if (!first) return <span class="none" title="not reached">…</span>;
  const mean = meanOf(cells);
  if (mean === null)
    return (
      <a href={href} class={first[3] === "f" ? "failed" : "none"} title={`${title}: ${inWords(first[8])}`}>
        {first[3] === "f" ? "failed" : "n/a"}
        <small>{inWords(first[8])}</small>
      </a>
    );
  const [low, high, kind] = first[5] ?? [];
  const whisker = cells.length === 1 && low !== undefined && high !== undefined ? { low, high, range: kind === "r" } : spread(cells);
  const items = first[6];
  const few = thin(cells);
  return (
    <a href={href} class={few ? "thin" : ""} title={`${title}: ${score(mean)}${few ? ", on few items: not ranked" : ""}`}>
      <b>{score(mean)}</b>
      <Bar value={mean} whisker={whisker} />
      <small>
        {cells.length > 1 ? `${cells.length} times` : items ? `${items[0]} of ${items[1]}` : first[9] ? `${first[9]} parts` : "\u00a0"}
        {few && " · few"}
      </small>
    </a>
  );
}

function spread(cells: Cell[]) {
  const scores = cells.map((cell) => cell[4]).filter((value): value is number => value !== null);
  return scores.length > 1 ? { low: Math.min(...scores), high: Math.max(...scores), range: true } : null;
}
