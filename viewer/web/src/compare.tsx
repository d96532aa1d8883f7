// Two systems, judges or runs held against each other on the same tasks: what differs, how surely, and item by item.
import { useMemo, useState } from "preact/hooks";
import { DifferencePlot } from "./charts";
import type { Difference, Head, Index, Item, Unit } from "./data";
import { differ, matched, verdictOf } from "./items";
import type { Route } from "./route";
import { byVertical, meanOf, reportHref, taskOf, thin, titleOf } from "./run";
import { loadReport } from "./store";
import { Badge, Choice, NotHere, useKeys, useLoaded } from "./ui";
import { inWords, plural, score, signed } from "./words";

interface Props {
  index: Index;
  route: Route;
  change: (changes: Record<string, string>, push?: boolean) => void;
}

/** One side of the comparison. */
interface Side {
  name: string;
  run: number;
  system: string | null;
  judge: string | null;
}

/** What is paired: the same task (and system, where that is the same on both sides). */
interface Pair {
  key: string;
  task: string;
  one: Place;
  other: Place;
}

interface Place {
  run: number;
  number: number;
  system: string;
  judges: string[];
}

export function ComparePage({ index, route, change }: Props) {
  const setting = settingOf(index, route);
  const [one, other] = setting.sides;
  const pairs = useMemo(() => pairsOf(index, one, other), [index, one.name, other.name, setting.by, setting.judge]);
  const metrics = byVertical(index, index.runs[one.run]!.metrics.filter((metric) => index.runs[other.run]!.metrics.includes(metric))).flatMap(([, names]) => names);
  const rows = useMemo(() => pairs.map((pair) => ({ pair, gaps: metrics.map((metric) => gapOf(index, pair, metric)) })), [pairs]);
  const { metric = "", all = "", open = "" } = route.query;
  const at = metrics.indexOf(metric);
  const shown = rows
    .filter((row) => all || (at < 0 ? row.gaps : [row.gaps[at]]).some((gap) => gap?.gap !== 0 && gap !== undefined))
    .sort((a, b) => size(b, at) - size(a, at));
  const place = shown.findIndex((row) => row.pair.key === open);
  const pick = (to: number) => shown[to] && change({ open: shown[to]!.pair.key }, false);
  useKeys({ j: () => pick(Math.min(shown.length - 1, place + 1)), k: () => pick(Math.max(0, place - 1)), Escape: () => change({ open: "" }, false) });
  return (
    <main class="compare">
      <header class="title">
        <h1>{one.name} <span class="dim">and</span> {other.name}</h1>
        <p class="lead">On {plural(new Set(pairs.map((pair) => pair.task)).size, "task")} that both have. Positive means that <b>{other.name}</b> scores higher.</p>
      </header>
      <Controls index={index} setting={setting} change={change} />
      {pairs.length === 0 ? (
        <p class="empty">Both sides have no task in common.</p>
      ) : (
        <>
          <Overall index={index} setting={setting} rows={rows} metrics={metrics} />
          <section>
            <div class="bar-head">
              <h2>Task by task</h2>
              <div class="controls">
                <Choice label="Metric" value={metric} options={[["", "all"], ...metrics.map((name) => [name, titleOf(index, name)] as [string, string])]} onChange={(value) => change({ metric: value, open: "" })} />
                <label class="check"><input type="checkbox" checked={!all} onChange={(event) => change({ all: event.currentTarget.checked ? "" : "1" })} /> only what differs</label>
              </div>
            </div>
            <p class="hint">{plural(shown.length, "pair")} of {rows.length}, the largest difference first. Open one to see it item by item.</p>
            {shown.slice(0, 200).map((row) => (
              <PairRow key={row.pair.key} {...{ index, row, metrics, at, sides: setting.sides, all: all !== "", open: open === row.pair.key, change }} />
            ))}
            {shown.length === 0 && <p class="empty">Nothing differs here.</p>}
          </section>
        </>
      )}
    </main>
  );
}

// --- what is compared -------------------------------------------------------------------------------------------------

interface Setting {
  by: "run" | "system" | "judge";
  sides: [Side, Side];
  judge: string;
}

function settingOf(index: Index, route: Route): Setting {
  const { a = "", b = "", by = "", judge = "" } = route.query;
  const [first, second] = index.runs;
  if (second) {
    const sides: [Side, Side] = [side(runName(index, 0), 0), side(runName(index, 1), 1)];
    return { by: "run", sides, judge: "" };
  }
  const head = first!;
  const judges = by === "judge" ? head.judges.length > 1 : head.systems.length < 2;
  const names = judges ? head.judges : head.systems;
  const one = names.includes(a) ? a : names[0]!;
  const other = names.includes(b) && b !== one ? b : (names.find((name) => name !== one) ?? one);
  const chosen = head.judges.includes(judge) ? judge : head.judges[0]!;
  const sides = [one, other].map((name) => ({ name, run: 0, system: judges ? null : name, judge: judges ? name : chosen })) as [Side, Side];
  return { by: judges ? "judge" : "system", sides, judge: chosen };
}

const side = (name: string, run: number): Side => ({ name, run, system: null, judge: null });

function runName(index: Index, run: number): string {
  const [one, other] = index.runs;
  return one!.name === other!.name ? index.runs[run]!.id : index.runs[run]!.name;
}

function pairsOf(index: Index, one: Side, other: Side): Pair[] {
  const [a, b] = [placesOf(index, one), placesOf(index, other)];
  const alone = one.system !== null || (index.runs[one.run]!.systems.length === 1 && index.runs[other.run]!.systems.length === 1);
  const key = (place: Place, task: string) => (alone ? task : `${task}\n${place.system}`);
  const left = new Map(b.map(([task, place]) => [key(place, task), place]));
  return a.flatMap(([task, place]) => {
    const same = left.get(key(place, task));
    return same ? [{ key: alone ? task : `${task}/${place.system}`, task, one: place, other: same }] : [];
  });
}

function placesOf(index: Index, side: Side): [task: string, place: Place][] {
  const head = index.runs[side.run]!;
  return head.reports.flatMap(([task, system], number) =>
    side.system === null || side.system === system ? [[task, { run: side.run, number, system, judges: side.judge ? [side.judge] : head.judges }] as [string, Place]] : [],
  );
}

// --- figures ----------------------------------------------------------------------------------------------------------

interface Gap {
  one: number | null;
  other: number | null;
  /** null: one of them has no score that may be compared. */
  gap: number | null;
}

interface Row {
  pair: Pair;
  gaps: Gap[];
}

function cellsOf(head: Head, place: Place, metric: string) {
  const at = head.metrics.indexOf(metric);
  const judges = new Set(place.judges.map((name) => head.judges.indexOf(name)));
  return (head.cells[place.number] ?? []).filter((cell) => cell[0] === at && judges.has(cell[1]));
}

function gapOf(index: Index, pair: Pair, metric: string): Gap {
  const [a, b] = [pair.one, pair.other].map((place) => cellsOf(index.runs[place.run]!, place, metric));
  const [one, other] = [meanOf(a), meanOf(b)];
  const comparable = one !== null && other !== null && !thin(a) && !thin(b);
  return { one, other, gap: comparable ? Math.round((other - one) * 100) / 100 : null };
}

function size(row: Row, at: number): number {
  const gaps = at < 0 ? row.gaps : [row.gaps[at]!];
  return Math.max(...gaps.map((gap) => (gap.gap === null ? 0 : Math.abs(gap.gap))));
}

function differenceOf(index: Index, setting: Setting, metric: string): Difference | undefined {
  const [one, other] = setting.by === "run" ? ["0", "1"] : setting.sides.map((side) => side.name);
  const context = setting.by === "system" ? setting.judge : "";
  for (const row of index.differences) {
    if (row[0] !== setting.by || row[3] !== metric || row[4] !== context) continue;
    if (row[1] === one && row[2] === other) return row;
    if (row[1] === other && row[2] === one) return [row[0], row[2], row[1], row[3], row[4], row[5], -row[6], -row[8], -row[7], row[9], row[10]];
  }
  return undefined;
}

function Overall({ index, setting, rows, metrics }: { index: Index; setting: Setting; rows: Row[]; metrics: string[] }) {
  const found = metrics.map((metric, at) => {
    const exact = differenceOf(index, setting, metric);
    const gaps = rows.map((row) => row.gaps[at]!.gap).filter((gap): gap is number => gap !== null);
    const mean = exact?.[6] ?? (gaps.length ? gaps.reduce((a, b) => a + b, 0) / gaps.length : null);
    return { metric, exact, n: exact?.[5] ?? gaps.length, mean, higher: gaps.filter((gap) => gap > 0).length, lower: gaps.filter((gap) => gap < 0).length };
  });
  const known = found.filter((row) => row.mean !== null);
  const exact = found.some((row) => row.exact);
  return (
    <section>
      <h2>Differences in points</h2>
      <p class="hint">
        {exact
          ? "Mean over the tasks that both have, with its 95 % interval. Where the interval leaves out zero the difference is dark; p is of a paired permutation test, corrected for the number of metrics."
          : "Mean over what both have. With fewer than six tasks there is no interval and no test: such differences may be chance."}
      </p>
      {known.length > 0 && <div class="wide"><DifferencePlot rows={known.map((row) => ({ name: titleOf(index, row.metric), mean: row.mean!, low: row.exact?.[7] ?? null, high: row.exact?.[8] ?? null }))} one={setting.sides[0].name} other={setting.sides[1].name} /></div>}
      <div class="wide">
        <table class="plain-table">
          <thead>
            <tr>
              <th>Metric</th>
              <th>Difference</th>
              <th>95 % interval</th>
              <th>p</th>
              <th>{setting.sides[1].name} higher</th>
              <th>lower</th>
              <th>{exact ? "Tasks" : "Pairs"}</th>
              {exact && <th title="The least true difference that so many tasks show with 80 % power">Least detectable</th>}
            </tr>
          </thead>
          <tbody>
            {found.map((row) => (
              <tr key={row.metric}>
                <th scope="row">{titleOf(index, row.metric)}</th>
                <td>{row.mean === null ? "–" : <b>{signed(row.mean)}</b>}</td>
                <td>{row.exact ? `${signed(row.exact[7])} to ${signed(row.exact[8])}` : "–"}</td>
                <td>{row.exact ? (row.exact[9] < 0.001 ? "< 0.001" : row.exact[9].toFixed(3)) : "–"}</td>
                <td>{row.higher}</td>
                <td>{row.lower}</td>
                <td>{row.n}</td>
                {exact && <td>{row.exact ? row.exact[10].toFixed(1) : "–"}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Controls({ index, setting, change }: { index: Index; setting: Setting; change: Props["change"] }) {
  if (setting.by === "run") return null;
  const head = index.runs[0]!;
  const names = setting.by === "judge" ? head.judges : head.systems;
  const options = names.map((name) => [name, name] as [string, string]);
  const [one, other] = setting.sides;
  return (
    <div class="controls">
      {head.judges.length > 1 && head.systems.length > 1 && <Choice label="Compare" value={setting.by} options={[["system", "systems"], ["judge", "judges"]]} onChange={(value) => change({ by: value, a: "", b: "", open: "" })} />}
      <Choice label="This" value={one.name} options={options} onChange={(value) => change({ a: value, b: value === other.name ? one.name : other.name, open: "" })} />
      <Choice label="with" value={other.name} options={options.filter(([name]) => name !== one.name)} onChange={(value) => change({ a: one.name, b: value, open: "" })} />
      {setting.by === "system" && head.judges.length > 1 && <Choice label="by" value={setting.judge} options={head.judges.map((name) => [name, name])} onChange={(value) => change({ judge: value })} />}
    </div>
  );
}

// --- one pair ---------------------------------------------------------------------------------------------------------

interface PairProps {
  index: Index;
  row: Row;
  metrics: string[];
  at: number;
  sides: [Side, Side];
  all: boolean;
  open: boolean;
  change: Props["change"];
}

function PairRow({ index, row, metrics, at, sides, all, open, change }: PairProps) {
  const { pair, gaps } = row;
  const task = taskOf(index.runs[pair.one.run]!, pair.task);
  const shown = metrics.map((metric, n) => ({ metric, gap: gaps[n]! })).filter((_, n) => at < 0 || n === at);
  return (
    <article class={`pair${open ? " open" : ""}`}>
      <button class="pair-head" aria-expanded={open} onClick={() => change({ open: open ? "" : pair.key }, false)}>
        <span class="words" dir="auto"><b>{pair.key.length > 90 ? `${pair.key.slice(0, 89)}…` : pair.key}</b> <small>{task?.prompt.slice(0, 160)}</small></span>
        <span class="gaps">
          {shown.map(({ metric, gap }) => (
            <span key={metric} class={gap.gap === null || gap.gap === 0 ? "same" : gap.gap > 0 ? "up" : "down"} title={`${titleOf(index, metric)}: ${score(gap.one)} and ${score(gap.other)}`}>
              <small>{titleOf(index, metric)}</small>
              <b>{gap.gap === null ? "–" : gap.gap === 0 ? "same" : signed(gap.gap)}</b>
            </span>
          ))}
        </span>
      </button>
      {open && <Items index={index} pair={pair} metrics={shown.map((one) => one.metric)} sides={sides} all={all} />}
    </article>
  );
}

function Items({ index, pair, metrics, sides, all }: { index: Index; pair: Pair; metrics: string[]; sides: [Side, Side]; all: boolean }) {
  const one = useLoaded(() => loadReport(pair.one.run, pair.one.number), [pair.key]);
  const other = useLoaded(() => loadReport(pair.other.run, pair.other.number), [pair.key]);
  const failed = one.failed ?? other.failed;
  if (failed) return <NotHere what="This pair" failed={failed} />;
  if (!one.value || !other.value) return <p class="dim">…</p>;
  const unit = (units: Unit[], place: Place, metric: string) => units.find((u) => u.metric === metric && place.judges.includes(u.judge) && u.repeat === 0);
  return (
    <div class="sides">
      {metrics.map((metric) => (
        <OneMetric key={metric} {...{ index, metric, sides, all, pair }} one={unit(one.value!.units, pair.one, metric)} other={unit(other.value!.units, pair.other, metric)} />
      ))}
    </div>
  );
}

function OneMetric({ index, metric, one, other, sides, all, pair }: { index: Index; metric: string; one?: Unit; other?: Unit; sides: [Side, Side]; all: boolean; pair: Pair }) {
  const [more, setMore] = useState(false);
  const pairs = useMemo(() => matched(one?.items ?? [], other?.items ?? []), [one, other]);
  const both = pairs.filter(([a, b]) => a && b);
  const shown = all ? both : both.filter(([a, b]) => differ(metric, a, b));
  const alone = pairs.filter(([a, b]) => !a || !b);
  const link = (place: Place, unit: Unit | undefined, item?: Item) =>
    reportHref(place.run, pair.task, place.system, { metric, item: item?.id ?? "", judge: unit && unit.judge !== index.runs[place.run]!.judges[0] ? unit.judge : "" });
  const cut = more ? shown : shown.slice(0, 12);
  return (
    <section>
      <h3>{titleOf(index, metric)} <small>{both.length ? `${plural(both.length, "item")} in common` : "nothing in common"}{both.length > 0 && !all && `, ${shown.length} of them different`}</small></h3>
      <div class="heads">
        {[one, other].map((unit, n) => (
          <a key={n} href={link(n ? pair.other : pair.one, unit)}>
            {sides[n]!.name}: <b>{unit?.score != null ? score(unit.score) : unit?.status === "failed" ? "failed" : "n/a"}</b>
            {unit && unit.status !== "scored" && <small> {inWords(unit.reason ?? "")}</small>}
          </a>
        ))}
      </div>
      {cut.map(([a, b], n) => (
        <div key={n} class="against">
          <p dir="auto">{(a ?? b)!.text}</p>
          <Half metric={metric} item={a} href={link(pair.one, one, a)} />
          <Half metric={metric} item={b} href={link(pair.other, other, b)} />
        </div>
      ))}
      {shown.length > cut.length && <button class="more" onClick={() => setMore(true)}>{plural(shown.length - cut.length, "more item")}</button>}
      {shown.length === 0 && both.length > 0 && <p class="dim">No item differs.</p>}
      {alone.length > 0 && (
        <details>
          <summary>{plural(alone.length, "item")} on one side only</summary>
          <div class="against lists">
            {[0, 1].map((n) => (
              <ul key={n}>
                {alone.map((pair) => pair[n]).filter((item) => item !== undefined).map((item) => (
                  <li key={item.id}>
                    <a class="half" href={link(n ? pair.other : pair.one, n ? other : one, item)}>
                      <Badge verdict={verdictOf(metric, item)} /> <span dir="auto">{item.text}</span>
                    </a>
                  </li>
                ))}
              </ul>
            ))}
          </div>
        </details>
      )}
    </section>
  );
}

function Half({ metric, item, href }: { metric: string; item?: Item; href: string }) {
  if (!item) return null;
  const quote = item.evidence?.find((one) => one.stance !== "neither");
  return (
    <a class="half" href={href}>
      <Badge verdict={verdictOf(metric, item)} />
      {item.reason && <span dir="auto"> {inWords(item.reason).slice(0, 200)}</span>}
      {quote && <q dir="auto">{quote.quote.slice(0, 200)}</q>}
    </a>
  );
}
