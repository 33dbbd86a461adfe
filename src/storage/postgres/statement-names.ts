import { createHash } from 'node:crypto';

/**
 * Names under which a connection keeps parsed statements, so that those that come again are neither parsed nor, as a rule,
 * planned again. The same text has the same name in every process: behind a pooler that hands connections around, a name can
 * be unknown or taken, but never stand for another statement.
 */
export interface StatementNames {
  /** Undefined for what is not worth keeping. */
  nameOf(text: string): string | undefined;
  /** Whether the error comes from names. What failed by it can be done again: the names have changed. */
  isBlamed(error: unknown): boolean;
}

/** Each connection keeps a plan of each, of some ten kilobytes. */
const namesMax = 250;

/** Lists of values that are written out differ each time, and are long. */
const textMax = 4_000;

/** Texts that came once so far. */
const seenMax = 1_000;

export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  const seen = new Set<string>();
  let generation = 0;
  let isOff = false;
  return {
    nameOf(text) {
      if (isOff) return undefined;
      const known = names.get(text);
      if (known !== undefined) return known;
      if (names.size >= namesMax || text.length > textMax || !isPreparable(text)) return undefined;
      if (!seen.has(text)) {
        if (seen.size >= seenMax) seen.clear();
        seen.add(text);
        return undefined;
      }
      seen.delete(text);
      const name = `carrel_${generation}_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
      names.set(text, name);
      return name;
    },
    isBlamed(error) {
      const { code, message } = error as { code?: unknown; message?: unknown };
      // Unknown, or known already, although nobody but us uses the connection: a pooler hands out another one each time.
      if (code === '26000' || code === '42P05') isOff = true;
      // Another process has changed a table while this one runs.
      else if (code === '0A000' && /cached plan/.test(String(message))) generation += 1;
      else return false;
      names.clear();
      return true;
    },
  };
}

/** One statement, and none of those that only set something. */
export function isPreparable(text: string): boolean {
  return /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text);
}
