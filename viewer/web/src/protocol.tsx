// A protocol: what is asked, on what evidence, how it was made, and what people think of it.
import { useEffect, useState } from "preact/hooks";
import { CallRow } from "./calls";
import type { Index, KeyQuestion, Page, Protocol, ProtocolPart, Provenance, ReasoningQuestion, Rubric } from "./data";
import { download, MARKS, type Rating, useRatings } from "./ratings";
import { href, type Route } from "./route";
import { titleOf } from "./run";
import { loadProtocol } from "./store";
import { cutAt } from "./text";
import { Flags, NotHere, Out, useKeys, useLoaded, reveal } from "./ui";
import { day, hostOf, inWords, MODES, plural } from "./words";

interface Props {
  index: Index;
  run: number;
  route: Route;
  change: (changes: Record<string, string>, push?: boolean) => void;
}

export function ProtocolPage({ index, run, route, change }: Props) {
  const head = index.runs[run];
  const task = route.path[0] ?? "";
  const number = head ? (head.protocols[task] ?? -1) : 0;
  const { value, failed } = useLoaded(() => loadProtocol(run, number), [run, number]);
  if (number < 0) return <main><p class="empty">There is no protocol for this task here. <a href="#/">All reports</a></p></main>;
  if (failed) return <main><NotHere what="This protocol" failed={failed} /></main>;
  if (!value) return <main aria-busy="true" class="loading"><p class="dim">…</p></main>;
  const shared = { part: value, run, name: head?.name, route, change };
  return (
    <main class="protocol">
      {value.protocol ? <Loaded key={number} protocol={value.protocol} {...shared} /> : <Head part={value} run={run} name={head?.name} />}
      {Object.entries(value.rubrics).map(([metric, rubric]) => <RubricView key={metric} title={titleOf(index, metric)} rubric={rubric} />)}
      <Making part={value} />
    </main>
  );
}

function Head({ part, run, name, children }: { part: ProtocolPart; run: number; name?: string; children?: preact.ComponentChildren }) {
  const { prompt } = part.task;
  return (
    <header class="title">
      <p class="crumbs">{name ? <><a href={href("", [], { run: run ? String(run) : "" })}>{name}</a> / what was asked</> : "Evaluation protocol"}</p>
      <h1 dir="auto">{prompt.length > 300 ? `${prompt.slice(0, 299)}…` : prompt}</h1>
      {children}
    </header>
  );
}

function Loaded({ part, protocol, run, name, route, change }: { part: ProtocolPart; protocol: Protocol; run: number; name?: string; route: Route; change: Props["change"] }) {
  const { lint } = part;
  const [ratings, rate, rater, setRater] = useRatings(protocol.digest);
  const [rating, setRating] = useState(false);
  const ids = [...protocol.key_questions, ...protocol.reasoning_questions].map((question) => question.id);
  const at = ids.indexOf(route.query.q ?? "");
  const pick = (to: number) => {
    const id = ids[Math.max(0, Math.min(ids.length - 1, to))];
    if (!id) return;
    change({ q: id }, false);
    requestAnimationFrame(() => reveal(document.getElementById(`q-${id}`), "start"));
  };
  useKeys({
    j: () => pick(at + 1),
    k: () => pick(at - 1),
    Enter: () => document.querySelector<HTMLElement>(`#q-${ids[at]} details summary`)?.click(),
    Escape: () => (route.query.q ? change({ q: "" }, false) : name && (location.hash = href("", [], { run: run ? String(run) : "" }))),
  });
  useEffect(() => reveal(document.getElementById(`q-${route.query.q}`), "start"), [route.query.q]);
  const rated = Object.values(ratings).filter((one) => Object.keys(one).length > 0).length;
  const shared = { part, ratings, rate, rating, picked: route.query.q ?? "" };
  return (
    <>
      <Head part={part} run={run} name={name}>
        <p class="lead">
          {plural(protocol.key_questions.length, "key question")} and {plural(protocol.reasoning_questions.length, "reasoning question")}, made by <b>{protocol.maker.model}</b> ({MODES[protocol.maker.mode] ?? protocol.maker.mode}
          {protocol.maker.tools.length > 0 && `; ${protocol.maker.tools.map((tool) => tool.replaceAll("_", " ")).join(", ")}`}) as of <b>{day(protocol.as_of.day)}</b>.
        </p>
        <Flags flags={protocol.flags} />
        <p class="dim">{protocol.task.id} · made {day(protocol.created_at)} · digest <code>{protocol.digest.slice(0, 12)}</code></p>
      </Head>
      <section>
        {lint.length === 0 ? (
          <p class="ok">✓ Its form was checked, and nothing was found.</p>
        ) : (
          <>
            <h2>What is wrong with its form</h2>
            <ul class="reasons">
              {lint.map((one, number) => (
                <li key={number}>
                  <span class="badge part">{one.item ?? "all"}</span>
                  <span>{one.message}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
      <section class="rating-bar no-print">
        <button onClick={() => setRating(!rating)} aria-pressed={rating}>{rating ? "Hide the marks" : "Rate these questions"}</button>
        {rating && (
          <>
            <label>Your name <input value={rater} onInput={(event) => setRater(event.currentTarget.value)} maxLength={100} /></label>
            <span class="dim">{rated} of {ids.length} rated; kept in this browser</span>
            <button disabled={!rated || !rater.trim()} onClick={() => download(protocol.digest, rater.trim(), ratings)} title={rater.trim() ? "" : "Give your name first"}>Download the ratings</button>
          </>
        )}
      </section>
      <section>
        <h2>Key facts <small>each is yes or no: does the report state it?</small></h2>
        {protocol.key_questions.map((question) => <Key key={question.id} question={question} {...shared} />)}
        {protocol.key_questions.length === 0 && <p class="empty">None.</p>}
      </section>
      <section>
        <h2>Reasoning <small>each with the plan by which it is checked</small></h2>
        {protocol.reasoning_questions.map((question) => <Reasoning key={question.id} question={question} {...shared} />)}
        {protocol.reasoning_questions.length === 0 && <p class="empty">None.</p>}
      </section>
    </>
  );
}

interface Shared {
  part: ProtocolPart;
  ratings: Record<string, Rating>;
  rate: (item: string, changes: Rating) => void;
  rating: boolean;
  picked: string;
}

function Key({ question, ...shared }: { question: KeyQuestion } & Shared) {
  return (
    <Question question={question} {...shared} tag={question.time_sensitive ? "depends on the date" : ""}>
      {question.fact && question.fact !== question.text && <p class="fact" dir="auto"><b>A yes needs:</b> {question.fact}</p>}
    </Question>
  );
}

function Reasoning({ question, ...shared }: { question: ReasoningQuestion } & Shared) {
  const { plan } = question;
  const steps: [string, string][] = [
    ["Take out of the report", plan.extract],
    [`Look up (${plan.where})`, plan.lookup],
    ["Hold against each other", plan.cross_check],
    ["Counts against the report", plan.against],
  ];
  return (
    <Question question={question} {...shared} tag="">
      <ol class="plan">
        {steps.map(([name, text]) => (
          <li key={name}><b>{name}</b> <span dir="auto">{text}</span></li>
        ))}
      </ol>
    </Question>
  );
}

function Question({ question, tag, children, part, ratings, rate, rating, picked }: { question: KeyQuestion | ReasoningQuestion; tag: string; children: preact.ComponentChildren } & Shared) {
  const wrong = part.lint.filter((one) => one.item === question.id);
  return (
    <article class={`question${picked === question.id ? " picked" : ""}`} id={`q-${question.id}`}>
      <span class="id">{question.id}</span>
      <div>
        <h3 dir="auto">{question.text}</h3>
        {children}
        {question.rationale && <p class="dim" dir="auto">{question.rationale}</p>}
        {(tag || wrong.length > 0) && (
          <p class="tags">
            {tag && <span class="badge open">{tag}</span>}
            {wrong.map((one) => <span key={one.rule} class="badge part">{one.message}</span>)}
          </p>
        )}
        {rating && <Marks rating={ratings[question.id] ?? {}} onRate={(changes) => rate(question.id, changes)} name={question.id} />}
      </div>
      <div class="sources-of">
        {question.provenance.map((one, number) => <From key={number} from={one} page={part.pages[one.key]} />)}
      </div>
    </article>
  );
}

/** The page that a question rests on, with the quote marked. */
function From({ from, page }: { from: Provenance; page?: Page }) {
  const spans = page?.quotes.find(([quote]) => quote === from.quote)?.[1] ?? [];
  return (
    <details class="quote">
      <summary>
        <span class="dim">rests on</span> <b>{hostOf(from.url)}</b> <span class="date">{from.published ? day(from.published) : "no date"}</span>
        <q dir="auto">{from.quote}</q>
      </summary>
      <p class="source"><Out href={from.url}>{page?.title || from.url}</Out></p>
      {page && spans.length > 0 && (
        <blockquote class="page" dir="auto">
          {page.text.map(([start, text]) => (
            <span key={start}>{start > 0 && <span class="gap"> […] </span>}{cutAt(text, start, spans).map((piece, at) => (piece.hit ? <mark key={at}>{piece.text}</mark> : <span key={at}>{piece.text}</span>))}</span>
          ))}
        </blockquote>
      )}
    </details>
  );
}

const ASKED: Record<string, string> = {
  relevance: "Does a good answer need it?",
  verifiability: "Can it be checked?",
  clarity: "Is it clear what is asked?",
};

function Marks({ rating, onRate, name }: { rating: Rating; onRate: (changes: Rating) => void; name: string }) {
  return (
    <div class="marks no-print">
      {MARKS.map((mark) => (
        <fieldset key={mark}>
          <legend>{mark} <small>{ASKED[mark]}</small></legend>
          {[1, 2, 3, 4, 5].map((value) => (
            <label key={value}>
              <input type="radio" name={`${name}-${mark}`} checked={rating[mark] === value} onChange={() => onRate({ [mark]: value })} />
              <span>{value}</span>
            </label>
          ))}
        </fieldset>
      ))}
      <input aria-label={`Note on ${name}`} placeholder="A note" value={rating.note ?? ""} maxLength={2000} onInput={(event) => onRate({ note: event.currentTarget.value })} />
    </div>
  );
}

/** The weighted criteria of a metric that scores by them. */
function RubricView({ title, rubric }: { title: string; rubric: Rubric }) {
  const share = (weight: number) => `${(100 * weight).toFixed(0)} %`;
  return (
    <section>
      <h2>{title} <small>each criterion is scored 0 to 10 without its weight being shown; made by {rubric.maker}</small></h2>
      <Flags flags={rubric.flags} />
      {rubric.lint.length > 0 && (
        <ul class="reasons">
          {rubric.lint.map((one, number) => (
            <li key={number}><span class="badge part">{one.item ?? "all"}</span><span dir="auto">{one.message}</span></li>
          ))}
        </ul>
      )}
      {rubric.dimensions.map((dimension) => (
        <article key={dimension.name} class="question dimension">
          <span class="id">{share(dimension.weight)}</span>
          <div>
            <h3 dir="auto">{dimension.name.replaceAll("_", " ")} {dimension.specific && <span class="badge open">made for this task</span>}</h3>
            {dimension.definition && <p class="dim" dir="auto">{dimension.definition}</p>}
          </div>
          <ul class="criteria">
            {dimension.criteria.map((one) => (
              <li key={one.id}><span class="dim">{share(one.weight)}</span> <span dir="auto" title={one.explanation.slice(0, 600)}>{one.text}</span></li>
            ))}
          </ul>
        </article>
      ))}
    </section>
  );
}

/** How it was made: everything that its makers asked and read, in order. */
function Making({ part }: { part: ProtocolPart }) {
  const keys = [...new Set(Object.values(part.calls.units).flat())];
  const calls = keys.map((key) => part.calls.calls[key]).filter((call) => call !== undefined);
  if (!calls.length) return null;
  return (
    <section class="no-print">
      <h2>How it was made <small>{plural(calls.length, "step")}, one by one</small></h2>
      <ol class="timeline">
        {calls.map((call) => <li key={call.key}><CallRow call={call} note={call.state === "failed" ? inWords(call.reason) : ""} /></li>)}
      </ol>
    </section>
  );
}
