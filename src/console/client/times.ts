import { dayName, relativeTime } from '../parts/format.ts';

const updateMs = 30_000;
const clockTime = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Shows relative times and, on hover, the exact time in the reader's time zone. */
export function watchTimes(): void {
  showTimes(document);
  setInterval(() => showTimes(document), updateMs);
}

export function showTimes(root: ParentNode): void {
  let lastDay = '';
  for (const element of root.querySelectorAll('time')) {
    const at = Date.parse(element.dateTime);
    if (Number.isNaN(at)) continue;
    const isDay = 'day' in element.dataset;
    const words = 'clock' in element.dataset ? clock(at) : isDay ? dayName(at, {}) : relativeTime(at, Date.now(), {});
    if (element.textContent !== words) element.textContent = words;
    if (isDay) {
      element.closest('li')?.toggleAttribute('hidden', words === lastDay);
      lastDay = words;
    }
    element.title = exact.format(at);
  }
}

/** Formats the time of day in the reader's time zone. */
export function clock(at: number): string {
  return clockTime.format(at);
}
