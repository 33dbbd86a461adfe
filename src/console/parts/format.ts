import { type Html, html } from '../html.ts';

// Created on first use, because the two formatters take 20 ms and every server loads this file.
let separated: Intl.NumberFormat | undefined;
let relative: Intl.RelativeTimeFormat | undefined;

/** Formats a number with separators, such as 12,345. */
export function number(value: number): string {
  separated ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
  return separated.format(value);
}

/** Formats a count with its noun: "1 result", "1,234 results", "2 entries". */
export function plural(count: number, one: string, several = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : several}`;
}

/** Formats a size with its unit, to three digits. */
export function bytes(count: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  return `${Number((count / 1000 ** step).toPrecision(3))} ${units[step]}`;
}

/** Formats a duration with its unit, rounded. */
export function duration(ms: number): string {
  if (ms < 950) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 90) return `${ms < 9500 ? (ms / 1000).toFixed(1) : seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Renders a time such as "3 hours ago". The script updates it and shows the exact time in the reader's time zone on hover. */
export function time(iso: string, now = Date.now()): Html {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return html`${iso}`;
  const exact = `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return html`<time datetime="${iso}" title="${exact}">${relativeTime(at, now)}</time>`;
}

/** Formats a day, such as "Tue, 17 November 2026". The script does so again in the reader's time zone. */
export function dayName(at: number, zone: { timeZone?: string } = { timeZone: 'UTC' }): string {
  const parts = { weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' } as const;
  return new Date(at).toLocaleDateString('en-GB', { ...parts, ...zone });
}

const steps = [
  ['minute', 60],
  ['hour', 3600],
  ['day', 86_400],
] as const;

/** Formats a time relative to now, or as a date if it is more than 30 days away. */
export function relativeTime(at: number, now: number, zone: { timeZone?: string } = { timeZone: 'UTC' }): string {
  const seconds = Math.round((at - now) / 1000);
  const age = Math.abs(seconds);
  if (age < 45) return 'just now';
  if (age > 30 * 86_400) {
    const year = new Date(at).getUTCFullYear() === new Date(now).getUTCFullYear() ? {} : { year: 'numeric' as const };
    return new Date(at).toLocaleDateString('en', { day: 'numeric', month: 'short', ...year, ...zone });
  }
  const [unit, size] = steps.findLast(([, each]) => age >= each) ?? steps[0];
  relative ??= new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  return relative.format(Math.round(seconds / size), unit);
}
