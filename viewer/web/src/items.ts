// What an item says: its word, its colour, how bad it is, and where in the report it belongs.
import type { Item, Json, ReportPart, Unit } from "./data";
import type { Note } from "./text";
import { OUTCOMES, type Tone } from "./words";

/** Scales of metrics whose items have a value. */
const SCALES: Record<string, [low: number, high: number]> = {
  wq: [1, 5],
  rq: [0, 20],
  da: [1, 10],
  dre_quality: [0, 10],
  race: [0, 10],
};

const WORDS: Record<string, Record<string, string>> = {
  kic: { yes: "stated", no: "missing" },
  ci: { no: "page does not say it", supported: "page says it", partly_supported: "page says part of it", contradicted: "page says otherwise" },
  fact: { no: "page does not say it", supported: "page says it" },
  dre_facts: { supported: "right", contradicted: "wrong", undecided: "unknown" },
};

export interface Verdict {
  word: string;
  sign: string;
  tone: Tone;
  rank: number;
}

export function flawsOf(item: Item): { name: string; where: string; sentences: number[]; note: string }[] {
  const flaws = item.detail?.flaws;
  if (!Array.isArray(flaws)) return [];
  return flaws.filter(isObject).map((flaw) => ({
    name: String(flaw.name ?? ""),
    where: String(flaw.where ?? ""),
    sentences: numbers(flaw.sentences),
    note: String(flaw.note ?? ""),
  }));
}

export function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function numbers(value: Json | undefined): number[] {
  return Array.isArray(value) ? value.filter((one): one is number => typeof one === "number") : [];
}

export function scaleOf(metric: string, item: Item): string {
  const scale = SCALES[metric];
  if (item.value == null) return "";
  return scale ? `${trim(item.value)} of ${scale[1]}` : item.outcome ? "" : trim(item.value);
}

const trim = (value: number) => String(Math.round(value * 10) / 10);

/** The verdict on an item in words; a value is placed on its metric's scale. */
export function verdictOf(metric: string, item: Item): Verdict {
  if (item.flags?.includes("dead_citation")) return { word: "cited page is gone", sign: "✕", tone: "bad", rank: 1 };
  const known = item.outcome ? OUTCOMES[item.outcome] : undefined;
  const scale = SCALES[metric];
  if (scale && item.value != null) {
    const share = (item.value - scale[0]) / (scale[1] - scale[0]);
    const tone: Tone = share <= 0.34 ? "bad" : share < 0.67 ? "part" : "good";
    return { word: scaleOf(metric, item), sign: "", tone, rank: 1 + 6 * share };
  }
  if (known) return { ...known, word: WORDS[metric]?.[item.outcome!] ?? known.word };
  if (item.outcome) return { word: item.outcome.replaceAll("_", " "), sign: "·", tone: "open", rank: 5 };
  return { word: scaleOf(metric, item) || "not decided", sign: "", tone: "open", rank: 5 };
}

/** Items of a unit with their verdicts, worst first, in the order of the report among equals. */
export function worstFirst(unit: Unit): { item: Item; verdict: Verdict }[] {
  return (unit.items ?? [])
    .map((item, order) => ({ item, verdict: verdictOf(unit.metric, item), order, flaws: flawsOf(item).length }))
    .sort((a, b) => b.flaws - a.flaws || a.verdict.rank - b.verdict.rank || a.order - b.order);
}

/** Where in the report the items of a unit belong: their claims, the sentences they point at, the flaws they name. */
export function notesOf(unit: Unit | undefined, report: ReportPart): Note[] {
  if (!unit) return [];
  const spans = new Map(report.sentences.map(([number, start, end]) => [number, [start, end] as const]));
  const claims = new Map(report.claims.map((claim) => [claim.id, claim.sentences]));
  const notes: Note[] = [];
  for (const item of unit.items ?? []) {
    const verdict = verdictOf(unit.metric, item);
    const add = (span: readonly [number, number] | undefined, tone: string, rank: number) =>
      span && notes.push({ start: span[0], end: span[1], metric: unit.metric, item: item.id, tone, rank });
    const claim = claims.get(String(item.detail?.claim ?? item.id)) ?? numbers(item.detail?.sentences);
    for (const number of claim) add(spans.get(number), verdict.tone, verdict.rank);
    for (const flaw of flawsOf(item)) for (const number of flaw.sentences) add(spans.get(number), "bad", 0);
    const flawed = new Set(flawsOf(item).flatMap((flaw) => flaw.sentences));
    for (const found of item.evidence ?? []) {
      if (found.url || found.start == null || found.end == null) continue;
      const number = report.sentences.find(([, start]) => start === found.start)?.[0];
      if (number === undefined || !flawed.has(number)) add([found.start, found.end], verdict.tone, verdict.rank);
    }
  }
  return notes;
}

/** Items of two units that are about the same thing: by text, or by id where that is all they share. */
export function matched(one: readonly Item[], other: readonly Item[]): [Item | undefined, Item | undefined][] {
  const key = (item: Item) => `${item.text}\n${String(item.detail?.url ?? "")}`;
  const left = new Map(other.map((item) => [key(item), item]));
  const pairs: [Item | undefined, Item | undefined][] = [];
  for (const item of one) {
    const same = left.get(key(item));
    if (same) left.delete(key(item));
    pairs.push([item, same]);
  }
  for (const item of left.values()) pairs.push([undefined, item]);
  return pairs;
}

/** Whether two items say different things. */
export function differ(metric: string, one: Item | undefined, other: Item | undefined): boolean {
  if (!one || !other) return true;
  return one.outcome !== other.outcome || one.value !== other.value || verdictOf(metric, one).word !== verdictOf(metric, other).word;
}
