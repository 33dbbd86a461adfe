import { type Html, html } from '../html.ts';

export interface PlotPoint {
  /** Milliseconds since 1970. */
  at: number;
  /** Undefined where it is not known: the line has a gap there. */
  value: number | undefined;
}

const [width, height] = [480, 120];

/** A line over time, drawn here, so that the page needs no library. Readers of the page get its highest value in words. */
export function plot(name: string, points: readonly PlotPoint[], shown: (value: number) => string = rounded): Html {
  const known = points.flatMap(({ at, value }) => (value === undefined ? [] : [{ at, value }]));
  const highest = known.reduce((best, point) => (point.value > best.value ? point : best), { at: 0, value: 0 });
  const said = highest.value === 0 ? 'nothing yet' : `highest ${shown(highest.value)} at ${clock(highest)}`;
  return html`<figure class="plot"><figcaption>${name}: ${said}</figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${name}: ${said}" preserveAspectRatio="none">${lines(points, Math.max(1, highest.value))}</svg>
<p class="axis"><span>${clock(points[0])}</span><span>${clock(points.at(-1))}</span></p></figure>`;
}

/** One for each stretch without a gap; a stretch of one point is a short line. */
function lines(points: readonly PlotPoint[], max: number): Html[] {
  const step = width / Math.max(1, points.length - 1);
  const stretches: string[][] = [[]];
  for (const [index, { value }] of points.entries()) {
    if (value === undefined) stretches.push([]);
    else stretches.at(-1)?.push(`${(index * step).toFixed(1)},${(height - (value / max) * height).toFixed(1)}`);
  }
  return stretches
    .filter((stretch) => stretch.length > 0)
    .map((stretch) => {
      const [x = '0', y = '0'] = stretch[0]?.split(',') ?? [];
      const line = stretch.length > 1 ? stretch : [`${Math.max(0, Number(x) - step).toFixed(1)},${y}`, `${x},${y}`];
      return html`<polyline points="${line.join(' ')}"></polyline>`;
    });
}

function clock(point: { at: number } | undefined): string {
  return point === undefined ? '' : `${new Date(point.at).toISOString().slice(11, 16)} UTC`;
}

function rounded(value: number): string {
  return String(Math.round(value));
}
