// The data that viewer/heads.py, columns.py, parts.py and protocols.py write. Both sides change together.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** [metric, judge, repeat, status, score, interval, coverage, flags, reason, items]: one unit in the table. */
export type Cell = [
  metric: number,
  judge: number,
  repeat: number,
  status: "s" | "n" | "f",
  score: number | null,
  interval: [low: number, high: number, kind: "w" | "b" | "r"] | null,
  coverage: [decided: number, checked: number] | null,
  flags: string[],
  reason: string,
  items: number,
];

/** [system, metric, judge, mean, low, high, kind of interval, tasks]. */
export type Mean = [string, string, string, number, number | null, number | null, "w" | "b" | "r", number];

/** [by, one, other, metric, context, n, mean, low, high, p, least difference that would show]. */
export type Difference = [
  "system" | "judge" | "run",
  string,
  string,
  string,
  string,
  number,
  number,
  number,
  number,
  number,
  number,
];

export interface MetricInfo {
  title: string;
  vertical: string;
  adaptive: boolean;
  kind: string;
}

export interface Task {
  id: string;
  prompt: string;
  language?: string;
  topic?: string;
  as_of?: string;
}

export interface Totals {
  made: number;
  reused: number;
  failed: number;
  seconds: number;
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
  cost_usd: number | null;
  known_usd: number;
  unpriced: string[];
  kinds: Record<string, { made: number; reused: number; failed: number }>;
}

export interface Agreement {
  judge: string;
  what: string;
  data: string;
  measure: string;
  value: number;
  chance: number | null;
  n: number;
  date: string;
}

export interface Settings {
  mode: string;
  search: string[];
  exclude_hosts: string[];
  questions: number;
  reasoning: number;
  max_claims: number | null;
  budget_usd: number | null;
  budget_tokens: number | null;
  versions: Record<string, number>;
  maker: string;
}

export interface Head {
  name: string;
  id: string;
  version: string;
  created: string;
  as_of: string;
  as_of_given: boolean;
  judges: string[];
  repeats: number;
  shard: [number, number] | null;
  metrics: string[];
  systems: string[];
  settings: Settings;
  floor: number;
  state: string;
  reason: string;
  totals: Totals | null;
  agreement: Agreement[];
  no_ledger: string;
  tasks: Task[];
  reports: [task: string, system: string][];
  cells: Cell[][];
  means: Mean[];
  protocols: Record<string, number>;
}

export interface Index {
  schema: number;
  kind: "run" | "compare" | "protocol";
  version: string;
  detail: "full" | "lean" | "bare";
  served?: boolean;
  metrics: Record<string, MetricInfo>;
  runs: Head[];
  differences: Difference[];
}

export interface Evidence {
  url?: string;
  quote: string;
  start?: number;
  end?: number;
  stance?: string;
  published?: string;
  dating?: string;
  key?: string;
}

export interface Step {
  number: number;
  thought?: string;
  code?: string;
  observation?: string;
  error?: string;
  tools?: { tool: string; arguments?: Record<string, Json>; failed?: string; key?: string | null }[];
  key?: string | null;
}

export interface Item {
  id: string;
  text: string;
  outcome?: string;
  value?: number;
  evidence?: Evidence[];
  flags?: string[];
  reason?: string;
  calls?: string[];
  detail?: Record<string, Json>;
}

export interface Worst {
  metric: string;
  kind: string;
  item: string;
  text: string;
  quote?: string;
  url?: string;
  note?: string;
  flaw?: string;
}

export interface Unit {
  metric: string;
  judge: string;
  repeat: number;
  version: number;
  status: "scored" | "not_applicable" | "failed";
  score?: number;
  interval?: { low: number; high: number; kind: string };
  coverage?: { decided: number; checked: number };
  reason?: string;
  flags?: string[];
  parts?: Record<string, number | null>;
  counts?: Record<string, number>;
  items?: Item[];
  worst: Worst[];
}

export interface Source {
  id: string;
  label: string | null;
  target: string | null;
  title: string | null;
  raw: string;
}

export interface Claim {
  id: string;
  text: string;
  sentences: number[];
  check_worthy: boolean;
  importance: number;
  time_dependent?: boolean;
  selected?: boolean;
  sources?: string[];
}

export interface ReportPart {
  id: string;
  text: string;
  language: string | null;
  segments: [kind: string, start: number, end: number][];
  sentences: [number: number, start: number, end: number][];
  sources: Source[];
  marks: [start: number, end: number, sources: string[]][];
  findings: { rule: string; message: string }[];
  cuts: number;
  claims: Claim[];
  maker: string | null;
  units: Unit[];
}

export interface Page {
  url: string;
  final_url?: string;
  title?: string;
  site?: string;
  author?: string;
  published?: string;
  modified?: string;
  archived?: string;
  state?: string;
  flags?: string[];
  length: number;
  text: [start: number, text: string][];
  quotes: [quote: string, spans: [number, number][]][];
}

export type PagesPart = Record<string, Page>;

export interface Call {
  key: string;
  kind: "completion" | "search" | "page" | "arxiv" | "github";
  endpoint: string;
  subject: string;
  state: "usable" | "unusable" | "failed";
  reason: string;
  tokens: [prompt: number, cached: number, completion: number];
  usd: number | null;
  seconds: number;
  at: string;
  reused: boolean;
  request?: Json;
  answer?: Json;
}

export interface CallsPart {
  calls: Record<string, Call>;
  units: Record<string, string[]>;
}

export interface Provenance {
  url: string;
  quote: string;
  published: string | null;
  key: string;
}

export interface KeyQuestion {
  id: string;
  text: string;
  fact: string;
  rationale: string;
  time_sensitive: boolean;
  provenance: Provenance[];
}

export interface ReasoningQuestion {
  id: string;
  text: string;
  rationale: string;
  plan: { extract: string; lookup: string; where: string; cross_check: string; against: string };
  provenance: Provenance[];
}

export interface Rubric {
  maker: string;
  created_at: string;
  digest: string;
  flags: string[];
  dimensions: {
    name: string;
    definition: string;
    weight: number;
    specific: boolean;
    criteria: { id: string; text: string; explanation: string; weight: number }[];
  }[];
  lint: { rule: string; item: string | null; message: string }[];
}

export interface Protocol {
    task: Task;
    as_of: { day: string; given: boolean };
    created_at: string;
    maker: { model: string; mode: string; tools: string[]; prompt_version: number };
    key_questions: KeyQuestion[];
    reasoning_questions: ReasoningQuestion[];
  flags: string[];
  digest: string;
}

export interface ProtocolPart {
  protocol: Protocol | null;
  rubrics: Record<string, Rubric>;
  task: Task;
  lint: { rule: string; item: string | null; message: string }[];
  pages: PagesPart;
  calls: CallsPart;
}
