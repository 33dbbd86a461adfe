import { type Html, html, type Part } from '../html.ts';
import { bytes, duration, number } from './format.ts';

export interface PlotPoint {
  /** Milliseconds since 1970. */
  at: number;
  /** Undefined leaves a gap. */
  value: number | undefined;
  /** The failed part of the value, drawn in another colour. */
  bad?: number;
}

export type PlotUnit = 'count' | 'ms' | 'bytes';

export interface PlotOptions {
  name: string;
  /** Evenly spaced in time, oldest first. */
  points: readonly PlotPoint[];
  unit?: PlotUnit;
  kind?: 'bars' | 'line';
  /** Shown next to the name. */
  summary?: Part;
}

const formats: Record<PlotUnit, (value: number) => string> = { count: number, ms: duration, bytes };

export function plotValue(value: number, unit: PlotUnit): string {
  return formats[unit](value);
}

/**
 * Renders values over time as SVG with axes, without a library. The script shows clock times in the reader's time zone and, from
 * `data-values`, the value under the pointer.
 */
export function plot({ name, points, unit = 'count', kind = 'bars', summary }: PlotOptions): Html {
  const present = points.flatMap(({ value }) => value ?? []);
  const highest = Math.max(0, ...present);
  const top = niceTop(highest, unit);
  const label = highest === 0 ? `${name}: no data` : `${name}: at most ${plotValue(highest, unit)}`;
  const [first, second] = points;
  const values = points.map(({ value }) => value ?? '').join();
  const ticks = [0, 0.5, 1].map((position) => points[Math.round(position * (points.length - 1))]?.at ?? 0);
  return html`<figure class="plot" data-plot="${unit}" data-values="${values}" data-bad="${points
    .map(({ bad }) => bad ?? '')
    .join()
    .replace(/^,*$/, '')}" data-start="${first?.at}" data-step="${(second?.at ?? 0) - (first?.at ?? 0)}">
<figcaption><span class="label">${name}</span><span class="plot-value">${summary}</span></figcaption>
<div class="plot-area"><div class="plot-scale" aria-hidden="true">${[top, top / 2, 0].map((value) => html`<span>${plotValue(value, unit)}</span>`)}</div>
<svg viewBox="0 0 ${points.length} 100" role="img" aria-label="${label}" preserveAspectRatio="none"><path class="plot-grid" d="M0 0H${points.length}M0 50H${points.length}M0 100H${points.length}"/><path class="plot-${kind}" d="${kind === 'bars' ? bars(points, top) : line(points, top)}"/>${
    points.some(({ bad }) => bad) &&
    html`<path class="plot-bars bad" d="${bars(
      points.map(({ at, bad }) => ({ at, value: bad })),
      top,
    )}"/>`
  }<path class="plot-pointer" d=""/></svg></div>
<div class="plot-times" aria-hidden="true">${ticks.map(clock)}</div></figure>`;
}

function bars(points: readonly PlotPoint[], top: number): string {
  return points
    .map(({ value = 0 }, index) => {
      // A minimum height keeps small values visible.
      const height = value === 0 ? 0 : Math.max(1.5, (value / top) * 100);
      return height === 0 ? '' : `M${index + 0.12} 100v-${height.toFixed(1)}h.76v${height.toFixed(1)}z`;
    })
    .join('');
}

/** Returns the path of a line, which has a gap where a value is missing. A single value becomes a short line. */
function line(points: readonly PlotPoint[], top: number): string {
  let isOpen = false;
  return points
    .map(({ value }, index) => {
      const [isStart, y] = [!isOpen, (100 - ((value ?? 0) / top) * 100).toFixed(1)];
      isOpen = value !== undefined;
      return isOpen ? `${isStart ? `M${index} ${y}H${index + 0.5}` : ''}L${index + 0.5} ${y}` : '';
    })
    .join('');
}

/** Returns the top of the scale: 1, 2, 4 or 5 times a power of ten. For counts it is at least 2, so that half of it is an integer. */
function niceTop(value: number, unit: PlotUnit): number {
  const least = Math.max(value, unit === 'count' ? 2 : 1);
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 4, 5, 10].find((step) => step * power >= least) ?? 10);
}

/** Renders a time of day in UTC, which the script converts to the reader's time zone. */
function clock(at: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" data-clock>${iso.slice(11, 16)}</time>`;
}
