// How one score came about: each step of an agent, each stage of a workflow, every call in its order.
import { useMemo } from "preact/hooks";
import { CallRow } from "./calls";
import type { Call, CallsPart, Index, Item, Step, Unit } from "./data";
import { isObject, verdictOf } from "./items";
import { href, type Route } from "./route";
import { reportHref, titleOf } from "./run";
import { loadCalls, loadReport } from "./store";
import { Badge, NotHere, Out, useKeys, useLoaded } from "./ui";
import { inWords, kindWord, money, plural, score, seconds } from "./words";

interface Props {
  index: Index;
  run: number;
  route: Route;
}

export function TracePage({ index, run, route }: Props) {
  const head = index.runs[run]!;
  const [task = "", system = "", metric = ""] = route.path;
  const number = head.reports.findIndex(([t, s]) => t === task && s === system);
  const report = useLoaded(() => loadReport(run, number), [run, number]);
  const calls = useLoaded(() => loadCalls(run, number), [run, number]);
  const judge = route.query.judge || head.judges[0]!;
  const repeat = Number(route.query.repeat) || 0;
  const back = reportHref(run, task, system, { metric, judge: route.query.judge ?? "", item: route.query.item ?? "" });
  useKeys({ Escape: () => (location.hash = back) });
  if (number < 0) return <main><p class="empty">There is no such report here. <a href="#/">All reports</a></p></main>;
  if (report.failed) return <main><NotHere what="This report" failed={report.failed} /></main>;
  if (!report.value || (!calls.value && !calls.failed)) return <main class="loading" aria-busy="true"><p class="dim">…</p></main>;
  const unit = report.value.units.find((one) => one.metric === metric && one.judge === judge && one.repeat === repeat);
  return (
    <main class="trace">
      <header class="title">
        <p class="crumbs"><a href={href("", [], { run: run ? String(run) : "" })}>{head.name}</a> / <a href={back} dir="auto">{system}</a></p>
        <h1>{titleOf(index, metric)}, step by step</h1>
        <p class="lead">
          {unit?.score != null ? <>Score <b>{score(unit.score)}</b></> : unit ? <><b>{unit.status.replace("_", " ")}</b>: {inWords(unit.reason ?? "")}</> : "No such score in this run"}, judged by <b>{judge}</b>{head.repeats > 1 && `, time ${repeat + 1} of ${head.repeats}`}.
        </p>
      </header>
      {unit && <Steps unit={unit} calls={calls.value} picked={route.query.item ?? ""} back={(item) => reportHref(run, task, system, { metric, item, judge: route.query.judge ?? "" })} />}
      {unit && <Stages unit={unit} calls={calls.value} picked={route.query.item ?? ""} back={(item) => reportHref(run, task, system, { metric, item, judge: route.query.judge ?? "" })} />}
      <Calls part={calls.value} name={`${metric}|${judge}|${repeat}`} detail={index.detail} />
      {calls.value?.units.claims && calls.value.units.claims.length > 0 && <Calls part={calls.value} name="claims" detail={index.detail} title="How the claims were taken out of the report" />}
    </main>
  );
}

/** Items that an agent worked on, with its steps. */
function Steps({ unit, calls, picked, back }: { unit: Unit; calls?: CallsPart; picked: string; back: (item: string) => string }) {
  const items = (unit.items ?? []).filter((item) => stepsOf(item).length > 0);
  if (!items.length) return null;
  return (
    <>
      {items.map((item) => (
        <details key={item.id} class="worked" open={items.length === 1 || item.id === picked || (!picked && item === items[0])}>
          <summary>
            <Badge verdict={verdictOf(unit.metric, item)} /> <span dir="auto">{item.text}</span> <small>{plural(stepsOf(item).length, "step")}</small>
          </summary>
          <p><a href={back(item.id)}>Verdict and evidence</a></p>
          <ol class="steps">
            {stepsOf(item).map((step) => <OneStep key={step.number} step={step} calls={calls} />)}
          </ol>
        </details>
      ))}
    </>
  );
}

/** Items that went through a fixed workflow: what was asked, found, read and said, stage by stage. */
function Stages({ unit, calls, picked, back }: { unit: Unit; calls?: CallsPart; picked: string; back: (item: string) => string }) {
  const items = (unit.items ?? []).filter((item) => !stepsOf(item).length && (item.detail?.queries || item.detail?.pages || item.calls?.length));
  if (!items.length) return null;
  return (
    <section>
      <h2>Item by item</h2>
      {items.map((item) => (
        <details key={item.id} class="worked" open={item.id === picked}>
          <summary>
            <Badge verdict={verdictOf(unit.metric, item)} /> <span dir="auto">{item.text}</span>
          </summary>
          <Workflow item={item} calls={calls} />
          <p class="end"><a href={back(item.id)}>Verdict and evidence</a></p>
        </details>
      ))}
    </section>
  );
}

function Workflow({ item, calls }: { item: Item; calls?: CallsPart }) {
  const { queries, pages, url } = item.detail ?? {};
  const all = Object.values(calls?.calls ?? {});
  const find = (kind: string, subject: unknown) => all.find((call) => call.kind === kind && call.subject === subject);
  const asked = Array.isArray(queries) ? queries.map(String) : [];
  const read = isObject(pages) ? Object.entries(pages).map(([address, state]) => [address, String(state)] as const) : typeof url === "string" ? [[url, String(item.detail?.page ?? "")] as const] : [];
  const said = (item.calls ?? []).map((key) => calls?.calls[key]).filter((call): call is Call => call !== undefined);
  const line = (call: Call | undefined, kind: string, text: string, note = "") =>
    call ? <CallRow key={text} call={call} note={note} /> : <div key={text} class="call"><span class="kind">{kind}</span><span class="subject" dir="auto">{text}</span><span class="numbers">{note}</span></div>;
  return (
    <ol class="timeline">
      {asked.length > 0 && <li><h3>Asked without taking a side</h3>{asked.map((query) => line(find("search", query), "search", query))}</li>}
      {read.length > 0 && <li><h3>Opened</h3>{read.map(([address, state]) => line(find("page", address), "page", address, state === "ok" ? "" : inWords(state)))}</li>}
      {said.length > 0 && <li><h3>Judged</h3>{said.map((call, at) => <CallRow key={call.key} call={call} note={item.detail?.queries ? stanceWord(item.evidence?.[at]?.stance) : ""} />)}</li>}
    </ol>
  );
}

const stanceWord = (stance: string | undefined) => ({ supports: "for it", refutes: "against it", partly: "for a part of it", neither: "decides nothing" })[stance ?? ""] ?? "";

export function stepsOf(item: Item): Step[] {
  const steps = item.detail?.steps;
  return Array.isArray(steps) ? (steps as unknown as Step[]) : [];
}

function OneStep({ step, calls }: { step: Step; calls?: CallsPart }) {
  const written = step.key ? calls?.calls[step.key] : undefined;
  return (
    <li class="step">
      {step.thought && <p class="thought" dir="auto">{step.thought}</p>}
      {step.code && <pre class="code" dir="auto">{step.code}</pre>}
      {(step.tools ?? []).map((tool, number) => {
        const call = tool.key ? calls?.calls[tool.key] : undefined;
        const args = Object.entries(tool.arguments ?? {});
        return (
          <div key={number} class="tool">
            {call ? <CallRow call={call} name={tool.tool.replaceAll("_", " ")} note={tool.failed} /> : <p>
              <b>{tool.tool.replaceAll("_", " ")}</b>{" "}
              {args.map(([name, value]) => (
                <span key={name} class="argument" dir="auto">{name === "url" ? <Out href={String(value)}>{String(value).slice(0, 160)}</Out> : `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`}</span>
              ))}
              {tool.failed && <span class="bad" dir="auto"> {tool.failed}</span>}
            </p>}
          </div>
        );
      })}
      {step.observation && <pre class="observation" dir="auto">{step.observation}</pre>}
      {step.error && <pre class="bad" dir="auto">{step.error}</pre>}
      {written && <CallRow call={written} />}
    </li>
  );
}

/** Everything asked outside, in order, by stage: runs of calls of one kind belong together. */
function Calls({ part, name, detail, title = "Everything that was asked, in order" }: { part?: CallsPart; name: string; detail: string; title?: string }) {
  const calls = useMemo(() => (part?.units[name] ?? []).map((key) => part!.calls[key]).filter((call): call is Call => call !== undefined), [part, name]);
  if (!calls.length)
    return (
      <section>
        <h2>{title}</h2>
        <p class="empty">{detail === "bare" ? <>Calls are not in this file: the run is too large for one page. <code>dream view RUN --serve</code> shows them.</> : "Nothing was asked outside, or the ledger was not there when this page was written."}</p>
      </section>
    );
  const sum = (value: (call: Call) => number) => calls.reduce((total, call) => total + value(call), 0);
  const usd = calls.some((call) => call.usd === null) ? null : sum((call) => call.usd ?? 0);
  return (
    <section>
      <h2>{title}</h2>
      <p class="hint">
        {plural(calls.length, "call")} · {sum((call) => call.tokens[0] + call.tokens[2]).toLocaleString("en")} tokens · {seconds(sum((call) => call.seconds))} · {money(usd)}
        {detail === "lean" && ". Texts of calls are not in this file; dream view RUN --serve shows them."}
      </p>
      <ol class="timeline">
        {stages(calls).map((stage, number) => (
          <li key={number}>
            <h3>{kindWord(stage[0]!.kind)} <span class="count">{stage.length}</span></h3>
            {stage.map((call) => <CallRow key={call.key} call={call} />)}
          </li>
        ))}
      </ol>
    </section>
  );
}

function stages(calls: Call[]): Call[][] {
  const groups: Call[][] = [];
  for (const call of calls) {
    const last = groups[groups.length - 1];
    if (last?.[0]?.kind === call.kind) last.push(call);
    else groups.push([call]);
  }
  return groups;
}
