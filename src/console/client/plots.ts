import { type PlotUnit, plotValue } from '../parts/plot.ts';
import { clock } from './times.ts';

/** Shows the value under the pointer next to the plot's name. Marks the position with a vertical line. */
export function watchPlots(): void {
  document.addEventListener('pointermove', ({ target, clientX }) => {
    const figure = target instanceof Element ? target.closest<HTMLElement>('[data-plot]') : null;
    clearPlots(figure);
    const area = figure?.querySelector('svg')?.getBoundingClientRect();
    if (figure && area && area.width > 0) showValueAt(figure, (clientX - area.left) / area.width);
  });
  // After these events, no more moves follow.
  document.documentElement.addEventListener('pointerleave', () => clearPlots());
  for (const end of ['pointerup', 'pointercancel'] as const) {
    document.addEventListener(end, ({ pointerType }) => pointerType !== 'mouse' && clearPlots());
  }
}

function clearPlots(except?: HTMLElement | null): void {
  for (const other of document.querySelectorAll<HTMLElement>('[data-plot][data-pointed]')) {
    if (other !== except) showValueAt(other, undefined);
  }
}

/** Shows the value at a horizontal position from 0 to 1; undefined shows the summary again. */
function showValueAt(figure: HTMLElement, position: number | undefined): void {
  const { plot: unit = 'count', values = '', bad = '', start, step } = figure.dataset;
  const all = values.split(',');
  const index = position === undefined ? -1 : Math.min(all.length - 1, Math.max(0, Math.floor(position * all.length)));
  const label = figure.querySelector<HTMLElement>('.plot-value');
  if (!label) return;
  label.dataset['summary'] ??= label.textContent ?? '';
  figure.querySelector('.plot-pointer')?.setAttribute('d', index < 0 ? '' : `M${index + 0.5} 0V100`);
  figure.toggleAttribute('data-pointed', index >= 0);
  if (index < 0) {
    label.textContent = label.dataset['summary'];
    return;
  }
  const value = all[index] === '' ? '–' : plotValue(Number(all[index]), unit as PlotUnit);
  const failed = Number(bad.split(',')[index] ?? 0);
  const time = clock(Number(start) + index * Number(step));
  label.textContent = `${time} · ${value}${failed > 0 ? ` · ${failed} failed` : ''}`;
}
