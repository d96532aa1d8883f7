// What people think of a protocol's questions: kept in this browser, handed on as a file that `dream protocol rate` reads.
import { useState } from "preact/hooks";

export const MARKS = ["relevance", "verifiability", "clarity"] as const;
type Mark = (typeof MARKS)[number];

/** Marks from 1 to 5, and a note. */
export type Rating = Partial<Record<Mark, number>> & { note?: string };

export function useRatings(digest: string): [Record<string, Rating>, (item: string, changes: Rating) => void, string, (name: string) => void] {
  const [ratings, setRatings] = useState<Record<string, Rating>>(() => load(`ratings.${digest}`) ?? {});
  const [rater, setRater] = useState<string>(() => load("rater") ?? "");
  const rate = (item: string, changes: Rating) =>
    setRatings((before) => {
      const next = { ...before, [item]: { ...before[item], ...changes } };
      save(`ratings.${digest}`, next);
      return next;
    });
  const name = (text: string) => {
    save("rater", text);
    setRater(text);
  };
  return [ratings, rate, rater, name];
}

export function download(digest: string, rater: string, ratings: Record<string, Rating>): void {
  const file = {
    schema: 1,
    protocol: digest,
    rater,
    ratings: Object.entries(ratings)
      .filter(([, rating]) => rating.note || MARKS.some((mark) => rating[mark]))
      .map(([item, rating]) => ({
        item,
        ...Object.fromEntries(MARKS.map((mark) => [mark, rating[mark] ?? null])),
        note: rating.note ?? "",
      })),
  };
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${JSON.stringify(file, null, 2)}\n`], { type: "application/json" }));
  link.download = `ratings-${digest.slice(0, 12)}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Browsers may refuse to keep anything for a file; then marks last as long as the page. */
export function load<T>(name: string): T | undefined {
  try {
    const text = localStorage.getItem(`dream-eval.${name}`);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

export function save(name: string, value: unknown): void {
  try {
    localStorage.setItem(`dream-eval.${name}`, JSON.stringify(value));
  } catch {
    // kept in memory only
  }
}
