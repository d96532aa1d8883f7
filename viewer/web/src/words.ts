// How things are called for people.

export const OUTCOMES: Record<string, { word: string; sign: string; tone: Tone; rank: number }> = {
  contradicted: { word: "contradicted", sign: "✕", tone: "bad", rank: 0 },
  no: { word: "no", sign: "✕", tone: "bad", rank: 1 },
  wrong: { word: "wrong", sign: "✕", tone: "bad", rank: 1 },
  conflicting: { word: "sources disagree", sign: "⇄", tone: "mixed", rank: 2 },
  partly_supported: { word: "partly supported", sign: "◐", tone: "part", rank: 3 },
  undecided: { word: "undecided", sign: "?", tone: "open", rank: 4 },
  unknown: { word: "unknown", sign: "?", tone: "open", rank: 4 },
  could_not_check: { word: "could not check", sign: "–", tone: "open", rank: 5 },
  supported: { word: "supported", sign: "✓", tone: "good", rank: 7 },
  right: { word: "right", sign: "✓", tone: "good", rank: 7 },
  yes: { word: "yes", sign: "✓", tone: "good", rank: 7 },
};

export type Tone = "good" | "part" | "bad" | "mixed" | "open";

export const ASKS: Record<string, string> = {
  wq: "Is it well written? Six criteria, each scored 1 to 5.",
  kic: "Does it state the key facts that an answer needs?",
  rq: "Do its conclusions follow, and do they survive a check outside?",
  factuality: "Are its claims true, by sources other than its own?",
  ci: "Are claims cited, and do the cited pages say so?",
  da: "How reputable are the domains it cites?",
  dre_quality: "General and task-specific criteria, weighted (DeepResearchEval).",
  dre_facts: "An agent judges each claim right, wrong or unknown (DeepResearchEval).",
  race: "Held against a reference report (DeepResearch Bench).",
  fact: "Do cited pages say what they are cited for (DeepResearch Bench)?",
};

const FLAGS: Record<string, string> = {
  thin: "rests on few items: shown, not ranked",
  most_important_claims: "only the most important claims were checked",
  claims_incomplete: "a part of the report could not be searched for claims",
  no_citations: "no claim cites a source",
  listed_only: "sources stand in a list only; no claim cites one",
  dead_citation: "a cited page is gone",
  outdated: "true earlier, contradicted by newer evidence",
  windowed: "too long for the judge; read in parts",
  incomplete: "some domains could not be judged",
  unprovenanced: "questions rest on no source",
  few_questions: "fewer questions than asked for",
  edited: "edited by hand",
  none_decided: "evidence was read, and it decides nothing",
  no_check_worthy_claim: "no claim that could be checked",
  no_independent_evidence: "only the report's own source supports it",
  number_not_in_report: "the report does not have this number at all",
  quote_not_found: "the judge's evidence could not be found in the text",
  evidence_after_as_of: "evidence dated after the as-of date was found; it decides nothing",
  evidence_may_be_later: "a deciding page was changed after the as-of date",
  undated_evidence: "a deciding page has no date",
  pointer_dropped: "a sentence number that does not exist was left out",
  no_evidence: "nothing outside decided",
  call_failed: "a call failed; running again may help",
  off_topic: "off the topic of the claim",
  no_domain: "addresses without a domain",
  no_page_readable: "no cited page could be read",
  nothing_found: "nothing was found",
  hidden_text: "the page hides text",
  hidden_instructions: "the page hides instructions to machines",
  truncated: "cut: too long",
  abstract_only: "abstract only",
  archived: "archived copy",
  captured_after: "captured after the as-of date",
  modified_after: "changed after the as-of date",
  copy_of_report: "a copy of the report itself",
  pdf: "PDF",
};

/** A flag or rule in words; an unknown one as it is, without underscores. */
export function inWords(flag: string): string {
  return FLAGS[flag] ?? flag.replaceAll("_", " ");
}

const KINDS: Record<string, string> = {
  completion: "model",
  search: "search",
  page: "page",
  arxiv: "arXiv",
  github: "GitHub",
};

export const kindWord = (kind: string) => KINDS[kind] ?? kind;

const STATES: Record<string, string> = {
  running: "not finished",
  unknown: "not finished",
  interrupted: "stopped by hand",
  budget: "stopped: the budget was reached",
  refused: "stopped: the account was refused",
  finished: "finished",
};

export const stateWord = (state: string) => STATES[state] ?? state;

export const MODES: Record<string, string> = {
  agent: "an agent that writes code",
  guided: "guided steps",
  static: "the model alone, without evidence",
};

export const score = (value: number | null | undefined) => (value == null ? "–" : value.toFixed(1));

export const signed = (value: number) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value).toFixed(1)}`;

export const plural = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export function day(text: string | null | undefined): string {
  const date = text ? new Date(`${text.slice(0, 10)}T12:00:00Z`) : null;
  if (!date || Number.isNaN(date.getTime())) return text ?? "";
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
}

export function money(usd: number | null): string {
  if (usd === null) return "unknown";
  if (usd === 0) return "no charge";
  return usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

export function seconds(value: number): string {
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 120) return `${Math.round(value)} s`;
  const minutes = Math.round(value / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Where an address leads, in short. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host.replace(/^www\./, "");
  } catch {
    return url.slice(0, 60);
  }
}
