// Small charts: scales and ticks by d3-scale, drawn as SVG so that they print and need no script of their own.
import { scaleLinear } from "d3-scale";
import { score, signed } from "./words";

const full = scaleLinear([0, 100], [0, 100]);

interface Whisker {
  low: number;
  high: number;
  /** A range of what single items give is no interval, and is drawn dashed. */
  range: boolean;
}

/** One score on the axis from 0 to 100, with its interval; drawn under the number in a table. */
export function Bar({ value, whisker, tone = "" }: { value: number; whisker: Whisker | null; tone?: string }) {
  return (
    <svg class={`bar ${tone}`} viewBox="-3 0 106 10" preserveAspectRatio="none" aria-hidden="true">
      <line class="axis" x1={full(0)} x2={full(100)} y1="5" y2="5" />
      {whisker && <line class={whisker.range ? "range" : "interval"} x1={full(whisker.low)} x2={full(whisker.high)} y1="5" y2="5" />}
      <rect class="dot" x={full(value) - 1.6} y="1" width="3.2" height="8" rx="1" />
    </svg>
  );
}

export interface DotRow {
  name: string;
  value: number | null;
  whisker: Whisker | null;
  dots: number[];
  href?: string;
}

/** Rows of one metric on a common axis: the mean as a bar, its interval, and a faint dot for every task. */
export function DotPlot({ title, rows, label }: { title: string; rows: DotRow[]; label: string }) {
  const [left, width, line] = [118, 190, 22];
  const x = scaleLinear([0, 100], [left, left + width]);
  const height = rows.length * line + 26;
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${left + width + 44} ${height}`} role="img" aria-label={label}>
        {x.ticks(5).map((tick) => (
          <g key={tick}>
            <line class="grid" x1={x(tick)} x2={x(tick)} y1="4" y2={height - 20} />
            <text class="tick" x={x(tick)} y={height - 6} text-anchor="middle">
              {tick}
            </text>
          </g>
        ))}
        {rows.map((row, number) => {
          const y = number * line + 14;
          return (
            <g key={row.name}>
              <text class="name" x={left - 10} y={y + 4} text-anchor="end">
                {row.name.length > 14 ? `${row.name.slice(0, 13)}…` : row.name}
              </text>
              {row.dots.map((dot, at) => (
                <circle key={at} class="task" cx={x(dot)} cy={y} r="3" />
              ))}
              {row.whisker && <line class={row.whisker.range ? "range" : "interval"} x1={x(row.whisker.low)} x2={x(row.whisker.high)} y1={y} y2={y} />}
              {row.value !== null && <circle class="mean" cx={x(row.value)} cy={y} r="4.2" />}
              <text class="value" x={left + width + 12} y={y + 4}>
                {score(row.value)}
              </text>
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

export interface DifferenceRow {
  name: string;
  mean: number;
  low: number | null;
  high: number | null;
}

/** Paired differences around zero: right of it the second side is better. */
export function DifferencePlot({ rows, one, other }: { rows: DifferenceRow[]; one: string; other: string }) {
  const [left, width, line] = [190, 420, 28];
  const ends = rows.flatMap((row) => [row.mean, row.low ?? 0, row.high ?? 0].map(Math.abs));
  const most = Math.max(5, ...ends);
  const x = scaleLinear([-most, most], [left, left + width]).nice();
  const height = rows.length * line + 46;
  const clear = (row: DifferenceRow) => row.low !== null && row.high !== null && (row.low > 0 || row.high < 0);
  return (
    <svg class="differences" viewBox={`0 0 ${left + width + 70} ${height}`} role="img" aria-label={rows.map((row) => `${row.name}: ${signed(row.mean)} points`).join("; ")}>
      <text class="side" x={left} y="12">{`← ${short(one)} higher`}</text>
      <text class="side" x={left + width} y="12" text-anchor="end">{`${short(other)} higher →`}</text>
      {x.ticks(7).map((tick) => (
        <g key={tick}>
          <line class={tick === 0 ? "zero" : "grid"} x1={x(tick)} x2={x(tick)} y1="20" y2={height - 22} />
          <text class="tick" x={x(tick)} y={height - 8} text-anchor="middle">
            {tick > 0 ? `+${tick}` : String(tick).replace("-", "−")}
          </text>
        </g>
      ))}
      {rows.map((row, number) => {
        const y = number * line + 36;
        return (
          <g key={row.name} class={clear(row) ? "clear" : ""}>
            <text class="name" x={left - 12} y={y + 4} text-anchor="end">
              {row.name}
            </text>
            {row.low !== null && row.high !== null && <line class="interval" x1={x(row.low)} x2={x(row.high)} y1={y} y2={y} />}
            <circle class="mean" cx={x(row.mean)} cy={y} r="4.5" />
            <text class="value" x={left + width + 14} y={y + 4}>
              {signed(row.mean)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

const short = (name: string) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);
