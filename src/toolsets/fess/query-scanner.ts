/** A part of a query, written so that Lucene's parser reads it as exactly this part. */
export interface QueryToken {
  kind: 'clause' | 'open' | 'close' | 'conjunction' | 'sign';
  text: string;
}

/**
 * Splits a query into clauses, parentheses and operators. Null if a part can't be parsed: an unclosed quote, a trailing
 * backslash, a field without a value. Callers then treat the query as literal text.
 *
 * Parts are written anew, not copied: quotes and backslashes inside phrases are removed, and special characters in words are
 * escaped, except those of wildcards, fuzziness and boosts.
 */
export function scanQuery(query: string): QueryToken[] | null {
  const tokens: QueryToken[] = [];
  let remaining = query;
  for (;;) {
    remaining = remaining.trimStart();
    if (remaining === '') return tokens;
    const scanned = scanToken(remaining);
    if (scanned === null) return null;
    tokens.push(scanned.token);
    remaining = remaining.slice(scanned.length);
  }
}

interface ScannedToken {
  token: QueryToken;
  length: number;
}

function scanToken(remaining: string): ScannedToken | null {
  for (const [pattern, read] of readers) {
    const match = pattern.exec(remaining);
    if (match === null) continue;
    const token = read(match);
    return token === null ? null : { token, length: match[0].length };
  }
  return null;
}

/** A non-ASCII symbol or emoji, which Fess indexes like a word. Excludes U+FFFD, which replaces a lone surrogate. */
export const symbol = String.raw`(?:(?![\0-\x7f\ufffd])\p{S}|\u20e3)`;

/** True if the text contains a letter, digit or symbol, which an index can contain. */
export function isSearchable(text: string): boolean {
  return searchable.test(text);
}

const searchable = new RegExp(String.raw`[\p{L}\p{N}]|${symbol}`, 'u');

type Reader = [pattern: RegExp, read: (match: RegExpExecArray) => QueryToken | null];

const end = String.raw`(?=[\s()]|$)`;
const field = `(?:([a-z_][a-z0-9_]*):(?!//))?`;
const weight = String.raw`((?:~\d*(?:\.\d+)?)?(?:\^\d+(?:\.\d+)?)?)`;
/** A valid range bound: a date, date arithmetic, a number, a word or a star. */
const bound = String.raw`([\p{L}\p{N}_.:/+*-]+)`;

const readers: Reader[] = [
  [new RegExp(`^(?:AND|&&)${end}`, 'u'), () => ({ kind: 'conjunction', text: 'AND' })],
  [new RegExp(String.raw`^(?:OR|\|\|)${end}`, 'u'), () => ({ kind: 'conjunction', text: 'OR' })],
  [new RegExp(`^NOT${end}`, 'u'), () => ({ kind: 'sign', text: 'NOT' })],
  [/^!(?=\S)/u, () => ({ kind: 'sign', text: 'NOT' })],
  // No space may follow: Lucene reads `- a` as the words "-" and "a". `+` becomes nothing, because words are required anyway.
  [/^-(?=\S)/u, () => ({ kind: 'sign', text: 'NOT' })],
  [/^\+(?=\S)/u, () => ({ kind: 'sign', text: '' })],
  [new RegExp(String.raw`^\*:\*${end}`, 'u'), () => clause(undefined, '*:*')],
  [new RegExp(String.raw`^${field}\(`, 'u'), ([, name]) => ({ kind: 'open', text: `${fieldPrefix(name)}(` })],
  [/^\)(?:\^\d+(?:\.\d+)?)?/u, ([text]) => ({ kind: 'close', text })],
  [new RegExp(String.raw`^${field}"((?:[^"\\]|\\.)*)"${weight}${end}`, 'us'), readPhrase],
  [new RegExp(String.raw`^${field}([[{])\s*${bound}\s+TO\s+${bound}\s*([\]}])${end}`, 'u'), readRange],
  [new RegExp(String.raw`^${field}((?:[^\s()"\\~^]|\\\S)+)${weight}${end}`, 'u'), readWord],
];

function readPhrase([, name, inside = '', suffix = '']: RegExpExecArray): QueryToken | null {
  const text = inside.replaceAll(/["\\]/g, ' ').trim();
  return text === '' ? null : clause(name, `"${text}"${suffix}`);
}

function readRange([, name, opening = '[', from = '*', to = '*', closing = ']']: RegExpExecArray): QueryToken | null {
  return name === undefined ? null : clause(name, `${opening}${from} TO ${to}${closing}`);
}

function readWord([, name, raw = '', suffix = '']: RegExpExecArray): QueryToken | null {
  const text = raw.replaceAll(/\\(\S)/gu, '$1');
  // Quoted: Fess looks for ` OR ` before it parses the query, so escaping is not enough.
  if (/^(?:AND|OR|NOT)$/.test(text)) return clause(name, `"${text}"`);
  if (!isSearchable(text) && !/[*?]/.test(text)) return null;
  return clause(name, `${escapeWord(raw)}${suffix}`);
}

/** Keeps wildcards and the caller's escapes; escapes all other syntax. */
function escapeWord(raw: string): string {
  return raw.replaceAll(/\\(\S)|([-+!(){}[\]^"~:/&|;<>=])/gu, (_, escaped: string | undefined, bare: string) => {
    const character = escaped ?? bare;
    return /[\p{L}\p{N}]/u.test(character) ? character : `\\${character}`;
  });
}

function clause(name: string | undefined, text: string): QueryToken {
  return { kind: 'clause', text: `${fieldPrefix(name)}${text}` };
}

/** Returns the field's prefix. Escapes `sort:`, which Fess reads as an instruction; the tool has a parameter for it. */
function fieldPrefix(name: string | undefined): string {
  if (name === undefined) return '';
  return name === 'sort' ? String.raw`sort\:` : `${name}:`;
}
