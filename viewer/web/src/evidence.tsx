// One item: its verdict, what speaks for and against it in the stored pages, how it was looked for, and what that cost.
import { useState } from "preact/hooks";
import { CallRow } from "./calls";
import type { CallsPart, Claim, Evidence, Item, Json, Page, PagesPart, Unit } from "./data";
import { flawsOf, isObject, scaleOf, verdictOf } from "./items";
import { cutAt } from "./text";
import { Badge, Flags, Out } from "./ui";
import { day, hostOf, inWords, money, plural, seconds } from "./words";

interface Props {
  unit: Unit;
  item: Item;
  claim?: Claim;
  pages?: PagesPart;
  calls?: CallsPart;
  trace: string;
  /** Where the question stands in the protocol; empty: it is none. */
  asked: string;
  /** Other metrics' items on the same claim. */
  also: { metric: string; title: string; item: Item }[];
  onOpen: (metric: string, item: string) => void;
}

const STREAMS: [stance: string, title: string][] = [
  ["refutes", "Against it"],
  ["contradicts", "Against it"],
  ["supports", "For it"],
  ["partly_supports", "For a part of it"],
  ["partly", "For a part of it"],
  ["neither", "Decides nothing"],
];

export function ItemView({ unit, item, claim, pages, calls, trace, asked, also, onOpen }: Props) {
  const verdict = verdictOf(unit.metric, item);
  const detail = item.detail ?? {};
  const flaws = flawsOf(item);
  return (
    <div class="item">
      <p class="verdict">
        <Badge verdict={verdict} />
        {item.reason && !same(item.reason, verdict.word) && <span class="reason" dir="auto">{inWords(item.reason)}</span>}
      </p>
      <p class="claim" dir="auto">{item.text}</p>
      <Flags flags={item.flags} hide={SAID} />
      {also.length > 0 && (
        <p class="also">
          {also.map((one) => (
            <button key={one.metric + one.item.id} class="quiet" onClick={() => onOpen(one.metric, one.item.id)}>
              {one.title}: <Badge verdict={verdictOf(one.metric, one.item)} />
            </button>
          ))}
        </p>
      )}
      <Values metric={unit.metric} item={item} />
      {flaws.length > 0 && (
        <section>
          <h3>{plural(flaws.length, "flaw")} in the reasoning</h3>
          {flaws.map((flaw, number) => (
            <div key={number} class="quote bad">
              <b>{flaw.name}</b> {flaw.note && <span dir="auto">– {flaw.note}</span>}
              {flaw.where && <blockquote dir="auto">{flaw.where}</blockquote>}
            </div>
          ))}
        </section>
      )}
      <KeyFact detail={detail} />
      <Streams evidence={item.evidence ?? []} pages={pages} />
      <Looked detail={detail} claim={claim} />
      <Costs item={item} calls={calls} trace={trace} />
      {asked && <p><a href={asked}>Where this question comes from</a></p>}
    </div>
  );
}

/** Whether a reason only says again what the verdict says. */
const same = (reason: string, word: string) => inWords(reason).toLowerCase().replace(/^the /, "") === word;

/** Flags that verdict and reason tell already. */
const SAID = ["no_independent_evidence", "dead_citation", "number_not_in_report"];

function Values({ metric, item }: { metric: string; item: Item }) {
  const pairs: [string, string][] = [];
  const { detail = {} } = item;
  if (item.outcome && scaleOf(metric, item)) pairs.push(["value", scaleOf(metric, item)]);
  for (const name of ["coherence", "validity"]) if (typeof detail[name] === "number") pairs.push([name, `${detail[name]} of 10`]);
  for (const [name, value] of Object.entries(detail))
    if (!KNOWN.has(name) && (typeof value === "number" || typeof value === "string" || typeof value === "boolean") && value !== "")
      pairs.push([name.replaceAll("_", " "), typeof value === "boolean" ? (value ? "yes" : "no") : String(value)]);
  if (!pairs.length) return null;
  return (
    <dl class="pairs small">
      {pairs.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd dir="auto">{value}</dd>
        </>
      ))}
    </dl>
  );
}

/** What other parts of this view show already. */
const KNOWN = new Set([
  "coherence", "validity", "flaws", "queries", "searches", "pages", "steps", "fact", "quote", "url", "own_sources",
  "label_flags", "copies_left_out", "importance", "time_dependent", "claim", "page", "page_flags", "sentences",
]);

function KeyFact({ detail }: { detail: Record<string, Json> }) {
  const { fact, quote, url } = detail;
  if (typeof fact !== "string" || typeof quote !== "string") return null;
  return (
    <section>
      <h3>The fact, and where it stands</h3>
      <div class="quote">
        <blockquote dir="auto">{quote}</blockquote>
        {typeof url === "string" && <p class="source"><Out href={url} /></p>}
      </div>
    </section>
  );
}

// --- evidence --------------------------------------------------------------------------------------------------------

function Streams({ evidence, pages }: { evidence: Evidence[]; pages?: PagesPart }) {
  const late = evidence.filter((one) => one.dating === "after");
  const rest = evidence.filter((one) => one.dating !== "after");
  const own = rest.filter((one) => !one.url);
  const outside = rest.filter((one) => one.url);
  const groups = new Map<string, Evidence[]>();
  for (const [stance, title] of STREAMS) {
    const here = outside.filter((one) => one.stance === stance);
    if (here.length) groups.set(title, [...(groups.get(title) ?? []), ...here]);
  }
  const known = new Set(STREAMS.map(([stance]) => stance));
  const other = outside.filter((one) => !known.has(one.stance ?? ""));
  return (
    <>
      {[...groups].map(([title, found]) => (
        <Stream key={title} title={title} found={found} pages={pages} folded={title === "Decides nothing"} />
      ))}
      {other.length > 0 && <Stream title="Read outside" found={other} pages={pages} />}
      {own.length > 0 && <Stream title="In the report" found={own} pages={pages} />}
      {late.length > 0 && <Stream title="Dated after the as-of date: listed, decides nothing" found={late} pages={pages} folded />}
    </>
  );
}

function Stream({ title, found, pages, folded = false }: { title: string; found: Evidence[]; pages?: PagesPart; folded?: boolean }) {
  const body = found.map((one, number) => <Quote key={number} found={one} page={one.key ? pages?.[one.key] : undefined} />);
  const heading = (
    <>
      {title} <span class="count">{found.length}</span>
    </>
  );
  if (folded)
    return (
      <details class="stream">
        <summary>{heading}</summary>
        {body}
      </details>
    );
  return (
    <section class="stream">
      <h3>{heading}</h3>
      {body}
    </section>
  );
}

function tone(stance: string | undefined): string {
  if (stance === "supports") return "good";
  if (stance === "refutes" || stance === "contradicts") return "bad";
  return stance?.startsWith("partly") ? "part" : "";
}

/** A quote inside the page it was copied from. */
function Quote({ found, page }: { found: Evidence; page?: Page }) {
  const [whole, setWhole] = useState(false);
  const spans = page?.quotes.find(([quote]) => quote === found.quote)?.[1] ?? [];
  const dates = found.published ?? page?.published;
  return (
    <div class={`quote ${tone(found.stance)}`}>
      {found.url && (
        <p class="source">
          <Out href={found.url}><b>{hostOf(found.url)}</b></Out>
          {page?.title && <span dir="auto">{page.title}</span>}
          <span class="date">{dates ? day(dates) : "no date"}{found.dating === "after" && " – after the as-of date"}</span>
        </p>
      )}
      {page && spans.length > 0 ? (
        <PageText page={page} spans={spans} whole={whole} />
      ) : (
        <blockquote dir="auto"><mark>{found.quote}</mark></blockquote>
      )}
      {page && spans.length > 0 && (
        <p class="under">
          <button class="quiet" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? "only the quote" : "in the stored page"}
          </button>
          <Flags flags={page.flags} />
        </p>
      )}
      {found.url && !page && <p class="under dim">The stored page is not in this file.</p>}
    </div>
  );
}

const AROUND = 160;

/** The stored text with the quote marked: some words around it, or all that is kept. */
function PageText({ page, spans, whole }: { page: Page; spans: [number, number][]; whole: boolean }) {
  const first = spans[0]![0];
  const last = spans[spans.length - 1]![1];
  const kept = page.text.filter(([start, text]) => whole || (start <= last && start + text.length >= first));
  return (
    <blockquote class={whole ? "page" : ""} dir="auto" ref={(here) => { if (whole) here?.querySelector("mark")?.scrollIntoView({ block: "nearest" }); }}>
      {kept.map(([start, text], number) => {
        const pieces = cutAt(text, start, spans);
        const shown = whole ? pieces : near(pieces).map((piece) => ({ ...piece, text: piece.text.replace(/\s*\n\s*/g, " ") }));
        return (
          <span key={start}>
            {(number > 0 || (whole ? start > 0 : false)) && <span class="gap"> […] </span>}
            {shown.map((piece, at) => (piece.hit ? <mark key={at}>{piece.text}</mark> : <span key={at}>{piece.text}</span>))}
          </span>
        );
      })}
      {whole && page.text.length > 0 && end(page) < page.length && <span class="gap"> […] </span>}
    </blockquote>
  );
}

const end = (page: Page) => {
  const [start, text] = page.text[page.text.length - 1]!;
  return start + text.length;
};

/** What lies around the marked pieces, cut at words. */
function near(pieces: { text: string; hit: boolean }[]): { text: string; hit: boolean }[] {
  const first = pieces.findIndex((piece) => piece.hit);
  const last = pieces.length - 1 - [...pieces].reverse().findIndex((piece) => piece.hit);
  return pieces.slice(Math.max(0, first - 1), last + 2).map((piece, at, all) => {
    if (piece.hit) return piece;
    const { text } = piece;
    const before = text.length > AROUND ? `…${text.slice(-AROUND).replace(/^\S*/, "")}` : text;
    const after = text.length > AROUND ? `${text.slice(0, AROUND).replace(/\S*$/, "")}…` : text;
    if (at === 0 && !all[0]!.hit) return { text: before, hit: false };
    if (at === all.length - 1) return { text: after, hit: false };
    return text.length > 2 * AROUND ? { text: `${text.slice(0, AROUND)} […] ${text.slice(-AROUND)}`, hit: false } : piece;
  });
}

// --- how it was looked for -------------------------------------------------------------------------------------------

function Looked({ detail, claim }: { detail: Record<string, Json>; claim?: Claim }) {
  const queries = strings(detail.queries);
  const searches = strings(detail.searches);
  const pages = isObject(detail.pages) ? Object.entries(detail.pages) : [];
  const own = strings(detail.own_sources);
  const notes: string[] = [];
  const importance = claim?.importance ?? (typeof detail.importance === "number" ? detail.importance : null);
  if (importance !== null) notes.push(`importance ${importance} of 5`);
  if (claim?.time_dependent ?? detail.time_dependent) notes.push("depends on the date");
  if (typeof detail.copies_left_out === "number" && detail.copies_left_out > 0) notes.push(`${plural(detail.copies_left_out, "near copy", "near copies")} left out`);
  if (typeof detail.page === "string" && detail.page !== "ok") notes.push(`page ${inWords(detail.page)}`);
  for (const flag of strings(detail.page_flags)) notes.push(inWords(flag));
  if (!queries.length && !pages.length && !notes.length) return null;
  return (
    <section>
      <h3>How it was looked for</h3>
      {notes.length > 0 && <p class="dim">{notes.join(" · ")}</p>}
      {queries.length > 0 && (
        <ol class="queries">
          {queries.map((query, number) => (
            <li key={number} dir="auto">
              <q>{query}</q>
              {searches[number] && searches[number] !== "ok" && <small> {inWords(searches[number])}</small>}
            </li>
          ))}
        </ol>
      )}
      {pages.length > 0 && (
        <details>
          <summary>{plural(pages.length, "page")} opened</summary>
          <ul class="opened">
            {pages.map(([url, state]) => (
              <li key={url}>
                <Out href={url}>{hostOf(url)}<span class="path">{pathOf(url)}</span></Out>
                {state !== "ok" && <small> {inWords(String(state))}</small>}
                {own.includes(url) && <small> cited by the report itself</small>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function pathOf(url: string): string {
  try {
    return new URL(url).pathname.replace(/\/$/, "");
  } catch {
    return "";
  }
}

function strings(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))) : [];
}

function Costs({ item, calls, trace }: { item: Item; calls?: CallsPart; trace: string }) {
  const keys = item.calls ?? [];
  const steps = Array.isArray(item.detail?.steps) ? item.detail.steps.length : 0;
  const found = keys.map((key) => calls?.calls[key]).filter((call) => call !== undefined);
  const usd = found.some((call) => call.usd === null) ? null : found.reduce((sum, call) => sum + (call.usd ?? 0), 0);
  if (!keys.length && !steps) return <p class="dim">Decided by code; no model was asked.</p>;
  return (
    <section>
      <h3>
        {plural(keys.length, "model call")}
        {found.length > 0 && (
          <span class="dim"> {seconds(found.reduce((sum, call) => sum + call.seconds, 0))} · {found.reduce((sum, call) => sum + call.tokens[0] + call.tokens[2], 0).toLocaleString("en")} tokens · {money(usd)}</span>
        )}
      </h3>
      {found.map((call) => (
        <CallRow key={call.key} call={call} />
      ))}
      <p>
        <a href={trace}>{steps ? `${plural(steps, "step")} of the agent, one by one` : "Everything asked for this metric, in order"}</a>
      </p>
    </section>
  );
}
