import { CarrelError } from '../../../base/errors.ts';

interface DateRange {
  readonly createdFrom?: string;
  readonly createdTo?: string;
}

/**
 * Parses a range like mcp-context-server: a date alone means the whole day, a time without a zone is UTC, and both
 * ends are inclusive.
 */
export function parseDateRange(start: string | undefined, end: string | undefined): DateRange {
  const from = start === undefined ? undefined : parseDate('start_date', start, Math.ceil);
  const to = end === undefined ? undefined : parseDate('end_date', end, Math.floor);
  if (from !== undefined && to !== undefined && from > to) {
    throw new CarrelError('invalid_arguments', `Invalid date range: start_date (${start}) is after end_date (${end})`);
  }
  return {
    ...(from === undefined ? {} : { createdFrom: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { createdTo: new Date(to).toISOString() }),
  };
}

/** Parses a point in time. A date alone means the end of that day. */
export function parseMoment(parameter: 'as_of', text: string): string {
  return new Date(parseDate(parameter, text, Math.floor)).toISOString();
}

type Parameter = 'start_date' | 'end_date' | 'as_of';

const pattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d)(?::(\d\d))?(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d\d(?::?\d\d)?)?)?$/;

const basicDate = /^(\d{4})(\d\d)(\d\d)(?=$|[T ])/;
const basicTime = /^([^T ]+[T ]\d\d)(\d\d)(\d\d)?/;
const weekDate = /^(\d{4})-?W(\d\d)-?([1-7])(?=$|[T ])/;
const dayMs = 86_400_000;

const earliest = Date.parse('0000-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Returns milliseconds since 1970. Fractions of a millisecond are rounded into the range: a start up, an end down.
 */
function parseDate(parameter: Parameter, text: string, round: (ms: number) => number): number {
  const match = pattern.exec(toExtendedForm(text.trim()));
  if (match === null) throw badDate(parameter, text);
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const isDateOnly = hour === undefined;
  const midnight = Date.parse(`${year}-${month}-${day}T00:00:00.000Z`);
  // Date.parse reads February 30th as March 2nd.
  if (Number.isNaN(midnight) || new Date(midnight).getUTCDate() !== Number(day)) throw badDate(parameter, text);
  if (isDateOnly) return parameter === 'start_date' ? midnight : midnight + dayMs - 1;
  const clock = [Number(hour), Number(minute ?? 0), Number(second ?? 0)] as const;
  if (clock[0] > 23 || clock[1] > 59 || clock[2] > 59) throw badDate(parameter, text);
  const fractionMs = fraction === undefined ? 0 : Number(`0.${fraction}`) * 1000;
  const ms = ((clock[0] * 60 + clock[1]) * 60 + clock[2]) * 1000 + round(fractionMs);
  // Clamped to four-digit years, because times are compared as text.
  return Math.max(earliest, Math.min(latest, midnight + ms - zoneMinutes(zone, parameter, text) * 60_000));
}

/**
 * Converts ISO 8601 basic forms (20261115T1000) and week dates (2026-W46-7) to the extended form; leaves other texts
 * unchanged.
 */
function toExtendedForm(text: string): string {
  const hyphenated = text
    .replace(basicDate, '$1-$2-$3')
    .replace(weekDate, (whole, year, week, day) => dayOfWeek(Number(year), Number(week), Number(day)) ?? whole);
  return hyphenated.replace(basicTime, (_whole, hour, minute, second) =>
    second === undefined ? `${hour}:${minute}` : `${hour}:${minute}:${second}`,
  );
}

/** Returns the date of a day in an ISO week, or undefined if the year has no such week. */
function dayOfWeek(year: number, week: number, day: number): string | undefined {
  if (week < 1 || week > weeksOf(year)) return undefined;
  return new Date(firstMonday(year) + ((week - 1) * 7 + day - 1) * dayMs).toISOString().slice(0, 10);
}

/** Returns the Monday of week 1, which is the week with January 4th. */
function firstMonday(year: number): number {
  const fourth = Date.parse(`${String(year).padStart(4, '0')}-01-04T00:00:00.000Z`);
  return fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * dayMs;
}

function weeksOf(year: number): number {
  return year >= 9999 ? 52 : Math.round((firstMonday(year + 1) - firstMonday(year)) / dayMs / 7);
}

function zoneMinutes(zone: string | undefined, parameter: Parameter, text: string): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
  if (hours > 23 || minutes > 59) throw badDate(parameter, text);
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

function badDate(parameter: string, text: string): CarrelError {
  const shown = text.replace(/[^\w.:+ -]/g, '?').slice(0, 60);
  return new CarrelError(
    'invalid_arguments',
    `Invalid ${parameter} format: "${shown}". Use ISO 8601 format (e.g., 2025-11-29 or 2025-11-29T10:00:00Z)`,
  );
}
