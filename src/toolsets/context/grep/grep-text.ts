import { countCharacters } from '../../../base/text.ts';
import { wireBytes } from '../../../base/wire-bytes.ts';

export interface GrepPattern {
  readonly pattern: string;
  readonly isRegex: boolean;
  readonly caseSensitive: boolean;
  readonly contextLines: number;
}

/** A match's line, from 1, and the number of matches before it in that line. */
export interface LinePosition {
  readonly line: number;
  readonly skip: number;
}

export interface GrepRequest {
  readonly text: string;
  readonly from: LinePosition;
  readonly matchesMax: number;
  /** Max bytes of all matches in an answer. */
  readonly bytesMax: number;
}

export interface GrepResult {
  readonly matches: LineMatch[];
  /** Position of the first match that did not fit. */
  readonly next: LinePosition | undefined;
}

/** One match in a line. Offsets count characters of the line as shown. */
export interface LineMatch {
  readonly line_number: number;
  readonly line: string;
  readonly match_start: number;
  readonly match_end: number;
  readonly before: string[];
  readonly after: string[];
}

/** Max UTF-16 units shown of a line. */
const lineUnitsMax = 2_000;

/** Finds matches line by line, starting at `from`. */
export function grepText({ text, from, matchesMax, bytesMax }: GrepRequest, pattern: GrepPattern): GrepResult {
  const lines = text.split('\n');
  const search = searcherOf(pattern);
  const matches: LineMatch[] = [];
  let bytes = 0;
  for (let index = from.line - 1; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    let count = 0;
    for (const { start, end } of search(line)) {
      count += 1;
      if (index === from.line - 1 && count <= from.skip) continue;
      const next = { line: index + 1, skip: count - 1 };
      if (matches.length >= matchesMax) return { matches, next };
      const match = showMatch(lines, index, { start, end }, pattern.contextLines);
      bytes += wireBytes(match, 2);
      if (bytes > bytesMax) return { matches, next };
      matches.push(match);
    }
  }
  return { matches, next: undefined };
}

function showMatch(lines: readonly string[], index: number, { start, end }: Span, contextLines: number): LineMatch {
  const line = lines[index] ?? '';
  // If the line is too long, show an excerpt around the match.
  const from = line.length <= lineUnitsMax ? 0 : Math.max(0, Math.min(start - 200, line.length - lineUnitsMax));
  const match = {
    line_number: index + 1,
    line: shortenLine(line.slice(from)),
    match_start: countCharacters(line.slice(from, start)),
    match_end: countCharacters(line.slice(from, Math.min(end, from + lineUnitsMax))),
    before: lines.slice(Math.max(0, index - contextLines), index).map(shortenLine),
    after: lines.slice(index + 1, index + 1 + contextLines).map(shortenLine),
  };
  if (wireBytes(match, 2, matchBytesMax) <= matchBytesMax) return match;
  const shortened = {
    ...match,
    before: match.before.map(shortenContextLine),
    after: match.after.map(shortenContextLine),
  };
  return wireBytes(shortened, 2, matchBytesMax) <= matchBytesMax ? shortened : { ...match, before: [], after: [] };
}

/** Max bytes of one match with its context lines. Every answer has space for more. */
const matchBytesMax = 40_000;

function shortenContextLine(line: string): string {
  return line.slice(0, 200).toWellFormed();
}

interface Span {
  readonly start: number;
  readonly end: number;
}

export function compile({ pattern, isRegex, caseSensitive }: GrepPattern): RegExp {
  const flags = caseSensitive ? 'g' : 'gi';
  if (!isRegex) return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), flags);
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    // More patterns are valid without the u flag.
    return new RegExp(pattern, flags);
  }
}

function searcherOf(pattern: GrepPattern): (line: string) => Iterable<Span> {
  const expression = compile(pattern);
  return function* (line) {
    for (const match of line.matchAll(expression)) yield { start: match.index, end: match.index + match[0].length };
  };
}

function shortenLine(line: string): string {
  return line.length <= lineUnitsMax ? line : line.slice(0, lineUnitsMax).toWellFormed();
}
