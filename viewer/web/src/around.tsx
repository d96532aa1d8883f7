// What stands around the tables of the first page: plots, what has no score and why, and how it was judged.
import { useMemo } from "preact/hooks";
import { DotPlot } from "./charts";
import type { Head, Index } from "./data";
import { byVertical, meanOf, protocolHref, reportHref, type Row, titleOf } from "./run";
import { ASKS, day, inWords, MODES, money, score } from "./words";

export function Plots({ index, head, judge, rows }: { index: Index; head: Head; judge: number; rows: Row[] }) {
  const plots = useMemo(() => {
    const means = new Map(head.means.filter((mean) => mean[2] === head.judges[judge]).map((mean) => [`${mean[0]}\n${mean[1]}`, mean]));
    const bySystem = new Map<string, Row[]>();
    for (const row of rows) bySystem.set(row.system, [...(bySystem.get(row.system) ?? []), row]);
    return byVertical(index, head.metrics).flatMap(([, metrics]) =>
      metrics.map((metric) => {
        const at = head.metrics.indexOf(metric);
        const shown = head.systems.slice(0, 24).map((system) => {
          const cells = (bySystem.get(system) ?? []).map((row) => row.cells[at] ?? []);
          const scores = cells.map(meanOf).filter((value): value is number => value !== null);
          const mean = means.get(`${system}\n${metric}`);
          const only = cells.length === 1 ? cells[0]![0] : undefined;
          const value = mean?.[3] ?? (scores.length === 1 ? scores[0]! : null);
          const whisker =
            only?.[5] != null
              ? { low: only[5][0], high: only[5][1], range: only[5][2] === "r" }
              : mean && mean[4] !== null && mean[5] !== null
                ? { low: mean[4], high: mean[5], range: mean[6] === "r" }
                : null;
          return { name: system, value, whisker, dots: scores.length > 1 ? scores : [] };
        });
        const label = `${titleOf(index, metric)}: ${shown.map((row) => `${row.name} ${score(row.value)}`).join(", ")}`;
        return { metric, shown, label };
      }),
    );
  }, [head, judge, rows]);
  if (head.systems.length < 2) return null;
  return (
    <section>
      <h2>How far apart, and how sure</h2>
      <p class="hint">
        {head.tasks.length > 1 ? "A pale dot is one task, the dark one the mean over tasks, the line its 95 % interval." : "The line is the 95 % interval of this one report; dashed where only the range of its parts can be given."}
        {head.systems.length > 24 && " The first 24 systems."}
      </p>
      <div class="plots">
        {plots.map(({ metric, shown, label }) => (
          <DotPlot key={metric} title={titleOf(index, metric)} rows={shown} label={label} />
        ))}
      </div>
    </section>
  );
}

export function Failures({ index, head, run }: { index: Index; head: Head; run: number }) {
  const groups = new Map<string, { metric: string; status: string; reason: string; where: [string, string][] }>();
  head.cells.forEach((cells, number) => {
    for (const cell of cells) {
      if (cell[3] === "s") continue;
      const metric = head.metrics[cell[0]]!;
      const key = `${metric}\n${cell[3]}\n${cell[8]}`;
      const group = groups.get(key) ?? { metric, status: cell[3], reason: cell[8], where: [] };
      group.where.push(head.reports[number]!);
      groups.set(key, group);
    }
  });
  if (!groups.size) return null;
  const shown = [...groups.values()].sort((a, b) => Number(a.status !== "f") - Number(b.status !== "f") || b.where.length - a.where.length);
  return (
    <section>
      <h2>Without a score, and why</h2>
      <p class="hint">Nothing here counts as zero.</p>
      <ul class="reasons">
        {shown.slice(0, 40).map((group) => (
          <li key={`${group.metric}${group.status}${group.reason}`}>
            <span class={`badge ${group.status === "f" ? "bad" : "open"}`}>{group.status === "f" ? "failed" : "not applicable"}</span>
            <span>
              <b>{titleOf(index, group.metric)}</b>: {inWords(group.reason)}
              <small>
                {group.where.slice(0, 6).map(([task, system], n) => (
                  <>
                    {n > 0 && ", "}
                    <a href={reportHref(run, task, system, { metric: group.metric })}>{head.tasks.length > 1 ? `${system} on ${task}` : system}</a>
                  </>
                ))}
                {group.where.length > 6 && ` and ${group.where.length - 6} more`}
              </small>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function About({ index, head, run }: { index: Index; head: Head; run: number }) {
  const s = head.settings;
  const rows: [string, preact.ComponentChild][] = [
    ["Judges", head.judges.length > 1 ? `${head.judges.join(", ")}; protocols and claims made by ${s.maker}` : head.judges[0]],
    ["As of", `${day(head.as_of)}; evidence dated later never decides`],
    ["Search", s.search.join(", ") || "–"],
    ["Agents", MODES[s.mode] ?? s.mode],
    ["Protocol", `${s.questions} key questions, ${s.reasoning} reasoning questions a task`],
    ["Claims", s.max_claims ? `the ${s.max_claims} most important of a report` : "all of a report"],
  ];
  if (head.repeats > 1) rows.push(["Repeats", `every unit judged ${head.repeats} times`]);
  if (head.shard) rows.push(["Part", `${head.shard[0]} of ${head.shard[1]} of a run`]);
  if (s.exclude_hosts.length) rows.push(["Never evidence", s.exclude_hosts.join(", ")]);
  if (s.budget_usd !== null) rows.push(["Budget", money(s.budget_usd)]);
  rows.push(["Started", new Date(head.created).toISOString().replace("T", " ").slice(0, 16) + " UTC"], ["Run", head.id], ["Version", `dream-eval ${head.version}`]);
  const protocols = Object.keys(head.protocols);
  return (
    <section>
      <h2>How it was judged</h2>
      <dl class="pairs">
        {rows.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
        {protocols.length > 0 && (
          <>
            <dt>{protocols.length > 1 ? "Protocols" : "Questions"}</dt>
            <dd>
              {protocols.slice(0, 12).map((task, n) => (
                <>
                  {n > 0 && ", "}
                  <a href={protocolHref(run, task)}>{task}</a>
                </>
              ))}
              {protocols.length > 12 && ` and ${protocols.length - 12} more, each beside its reports`}
            </dd>
          </>
        )}
      </dl>
      <details>
        <summary>What the metrics ask</summary>
        <dl class="pairs">
          {head.metrics.map((metric) => (
            <>
              <dt>{titleOf(index, metric)}</dt>
              <dd>
                {ASKS[metric] ?? "–"} <small>version {s.versions[metric] ?? "?"}</small>
              </dd>
            </>
          ))}
        </dl>
      </details>
    </section>
  );
}
