// Questions that pages ask of a run's head.
import type { Cell, Head, Index } from "./data";
import { href } from "./route";

export interface Row {
  number: number;
  task: string;
  system: string;
  /** A cell a metric, by the run's order; several for repeats. */
  cells: Cell[][];
}

/** The reports of a run under one judge. */
export function rowsOf(head: Head, judge: number): Row[] {
  return head.reports.map(([task, system], number) => {
    const cells: Cell[][] = head.metrics.map(() => []);
    for (const cell of head.cells[number] ?? []) if (cell[1] === judge) cells[cell[0]]?.push(cell);
    return { number, task, system, cells };
  });
}

/** Mean of the scores of repeats; null: there is none. */
export function meanOf(cells: Cell[] | undefined): number | null {
  const scores = (cells ?? []).map((cell) => cell[4]).filter((value): value is number => value !== null);
  return scores.length ? scores.reduce((a, b) => a + b, 0) / scores.length : null;
}

/** Whether a score rests on too few decided items to be compared. */
export const thin = (cells: Cell[] | undefined) => (cells ?? []).some((cell) => cell[7].includes("thin"));

export function taskOf(head: Head, id: string) {
  return head.tasks.find((task) => task.id === id);
}

export interface Counts {
  expected: number;
  scored: number;
  none: number;
  failed: number;
}

export function countsOf(head: Head): Counts {
  const cells = head.cells.flat();
  const count = (status: string) => cells.filter((cell) => cell[3] === status).length;
  return {
    expected: head.reports.length * head.metrics.length * head.judges.length * head.repeats,
    scored: count("s"),
    none: count("n"),
    failed: count("f"),
  };
}

export function reportHref(run: number, task: string, system: string, query: Record<string, string> = {}): string {
  return href("report", [task, system], { run: run ? String(run) : "", ...query });
}

export function protocolHref(run: number, task: string): string {
  return href("protocol", [task], { run: run ? String(run) : "" });
}

export const titleOf = (index: Index, metric: string) => index.metrics[metric]?.title ?? metric;

/** Metrics by the side of quality they look at, in the catalogue's order. */
export function byVertical(index: Index, metrics: string[]): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const metric of metrics) {
    const vertical = index.metrics[metric]?.vertical ?? "other";
    groups.set(vertical, [...(groups.get(vertical) ?? []), metric]);
  }
  return [...groups];
}
