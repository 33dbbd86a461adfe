export interface GrepPattern {
  readonly pattern: string;
  readonly isRegex: boolean;
  readonly caseSensitive: boolean;
  readonly contextLines: number;
  readonly matchesMax: number;
}

/** One match within a line. Offsets are characters of the line as shown, as everywhere in these tools. */
export interface LineMatch {
  readonly line_number: number;
  readonly line: string;
  readonly match_start: number;
  readonly match_end: number;
  readonly before: string[];
  readonly after: string[];
}

/** A line of machine output can be as long as a book. */
const lineUnitsMax = 2_000;

/** Matches are found line by line, possibly several in a line; an empty match counts once. */
export function grepText(text: string, pattern: GrepPattern): LineMatch[] {
  const lines = text.split('\n');
  const search = searcherOf(pattern);
  const found: LineMatch[] = [];
  for (const [index, line] of lines.entries()) {
    for (const { start, end } of search(line)) {
      if (found.length >= pattern.matchesMax) return found;
      // The part around the match, if the line is too long to be shown whole.
      const from = line.length <= lineUnitsMax ? 0 : Math.max(0, Math.min(start - 200, line.length - lineUnitsMax));
      found.push({
        line_number: index + 1,
        line: shown(line.slice(from)),
        match_start: charactersOf(line.slice(from, start)),
        match_end: charactersOf(line.slice(from, Math.min(end, from + lineUnitsMax))),
        before: lines.slice(Math.max(0, index - pattern.contextLines), index).map(shown),
        after: lines.slice(index + 1, index + 1 + pattern.contextLines).map(shown),
      });
    }
  }
  return found;
}

export function compile({ pattern, isRegex, caseSensitive }: GrepPattern): RegExp {
  const flags = caseSensitive ? 'g' : 'gi';
  if (!isRegex) return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), flags);
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    // Without the u flag, more patterns are valid.
    return new RegExp(pattern, flags);
  }
}

function charactersOf(text: string): number {
  return Array.from(text).length;
}

function searcherOf(pattern: GrepPattern): (line: string) => Iterable<{ start: number; end: number }> {
  const expression = compile(pattern);
  return function* (line) {
    for (const match of line.matchAll(expression)) yield { start: match.index, end: match.index + match[0].length };
  };
}

function shown(line: string): string {
  return line.length <= lineUnitsMax ? line : line.slice(0, lineUnitsMax).toWellFormed();
}
