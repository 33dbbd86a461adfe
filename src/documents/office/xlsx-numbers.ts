import { attributeOf } from '../xml/walk-xml.ts';
import type { OoxmlPackage } from './ooxml-package.ts';

/** Formats a number much as its cell displays it: dates, percentages, no rounding errors of binary numbers. */
export type FormatNumber = (value: string, style: number) => string;

type NumberKind = 'number' | 'percent' | 'date' | 'time' | 'datetime' | 'duration';

export function readNumberFormats(
  document: OoxmlPackage,
  part: string | undefined,
  startsIn1904: boolean,
): FormatNumber {
  const codes = new Map<number, string>();
  const formats: number[] = [];
  let inCells = false;
  document.walk(part, {
    open(name, attributes) {
      if (name === 'numFmt') codes.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '');
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) formats.push(Number(attributeOf(attributes, 'numFmtId') ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return createNumberFormat(formats, codes, startsIn1904);
}

/** `formats` has the format id of each style. `codes` has the workbook's own format codes, by format id. */
export function createNumberFormat(
  formats: readonly number[],
  codes: ReadonlyMap<number, string>,
  startsIn1904: boolean,
): FormatNumber {
  const kinds = formats.map((format) => kindOfFormat(format, codes));
  return (value, style) => format(value, kinds[style] ?? 'number', startsIn1904);
}

/** Returns the kind of a format: by its code, or by its id for built-in formats (ECMA-376 part 1, 18.8.30). */
function kindOfFormat(id: number, codes: ReadonlyMap<number, string>): NumberKind {
  const code = codes.get(id);
  if (code !== undefined) return kindOfCode(code);
  if (id === 9 || id === 10) return 'percent';
  if (id === 46) return 'duration';
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || (id >= 50 && id <= 58)) return 'date';
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47)) return 'time';
  return id === 22 || id === 36 ? 'datetime' : 'number';
}

function kindOfCode(code: string): NumberKind {
  // Removes quoted text, escaped characters, colours and currencies. Keeps [h] and [mm].
  const pattern = code.replace(/"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]/gi, '').split(';', 1)[0] ?? '';
  // [h] counts hours beyond 24.
  if (/\[[hms]+\]/i.test(pattern)) return 'duration';
  const hasTime = /[hs]|am\/pm/i.test(pattern);
  const hasDate = /[yd]/i.test(pattern) || (/m/i.test(pattern) && !hasTime);
  if (hasDate && !/[0#?]/.test(pattern.replace(/s\.0+/i, ''))) return hasTime ? 'datetime' : 'date';
  if (hasTime && !/[#?]/.test(pattern)) return 'time';
  return pattern.includes('%') ? 'percent' : 'number';
}

const dayMs = 86_400_000;
/** Serial number of the day after 31 December 9999. */
const dateSerialMax = 2_958_466;

function format(value: string, kind: NumberKind, startsIn1904: boolean): string {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) return value;
  if (kind === 'percent') return `${round(number * 100)}%`;
  if (kind === 'duration') return formatDuration(number);
  if (kind === 'number' || number < 0 || number > dateSerialMax) return String(round(number));
  // Day 1 is 1 January 1900, and 1900 counts as a leap year, as in Lotus 1-2-3.
  const epoch = startsIn1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, number < 60 ? 31 : 30);
  const iso = new Date(epoch + Math.round((number * dayMs) / 1000) * 1000).toISOString();
  const [date = '', time = ''] = iso.slice(0, 19).split('T');
  if (kind === 'date') return date;
  return kind === 'time' ? time : `${date} ${time}`;
}

/** Formats a number of days as hours, minutes and seconds. */
function formatDuration(days: number): string {
  const seconds = Math.round(Math.abs(days) * 86_400);
  const pad = (part: number) => String(part).padStart(2, '0');
  const time = `${Math.floor(seconds / 3600)}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
  return days < 0 ? `-${time}` : time;
}

/** Rounds to fifteen digits, as spreadsheets do. The rest are rounding errors of binary numbers. */
function round(number: number): number {
  return Number(number.toPrecision(15));
}
