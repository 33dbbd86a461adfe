import { type Html, html } from '../html.ts';

export interface PlotPoint {
  /** Milliseconds since 1970. */
  at: number;
  value: number;
}

const [width, height] = [480, 120];

/** A line over time, drawn here, so that the page needs no library. Readers of the page get its highest value in words. */
export function plot(name: string, points: readonly PlotPoint[]): Html {
  const max = Math.max(1, ...points.map(({ value }) => value));
  const x = (index: number): string => ((index / Math.max(1, points.length - 1)) * width).toFixed(1);
  const y = (value: number): string => (height - (value / max) * height).toFixed(1);
  const line = points.map(({ value }, index) => `${x(index)},${y(value)}`).join(' ');
  const clock = (point: PlotPoint | undefined): string =>
    point === undefined ? '' : `${new Date(point.at).toISOString().slice(11, 16)} UTC`;
  const highest = points.reduce((best, point) => (point.value > best.value ? point : best), { at: 0, value: 0 });
  const said = highest.value === 0 ? 'nothing yet' : `highest ${Math.round(highest.value)} at ${clock(highest)}`;
  return html`<figure class="plot"><figcaption>${name}: ${said}</figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${name}: ${said}" preserveAspectRatio="none"><polyline points="${line}"></polyline></svg>
<p class="axis"><span>${clock(points[0])}</span><span>${clock(points.at(-1))}</span></p></figure>`;
}
