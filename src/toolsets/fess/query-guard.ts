import { CarrelError } from '../../base/errors.ts';
import { isSearchable, type QueryToken, scanQuery, symbol } from './query-scanner.ts';

/** Fess 15.7 and later refuse longer parameters; a request line of 8 KiB is the limit before that. */
export const queryLengthMax = 1000;

/**
 * Makes a query safe to stand before the label filter.
 *
 * Fess builds `<q> label:"<label>"` and parses the whole, so `foo OR`, `foo NOT` or a backslash at the end would undo
 * the filter. Three forms leave this function, and each keeps the filter a required clause of its own:
 *
 * - plain words, phrases and `field:word`, unchanged: nothing in them is an operator;
 * - a well-formed query in parentheses, which Fess parses at its first attempt; and if its engine refuses it, the second
 *   attempt escapes our closing parenthesis into a word that still stands between the query and the filter;
 * - everything else as literal text: operators dropped, special characters escaped.
 */
export function guardQuery(query: string): string {
  const text = readable(query);
  if (text === '') throw invalidQuery('must not be empty');
  const guarded = unwrapped(isPlain(text) ? text.replaceAll(/\s+/gu, ' ') : guardSyntax(text));
  if (guarded.length > queryLengthMax) {
    throw invalidQuery(`must be at most ${queryLengthMax} characters, special characters counting double`);
  }
  return guarded;
}

/**
 * The guarded query and the label, both required under any default operator: a server that searches again with OR can
 * loosen what is inside the parentheses, but neither of the two.
 */
export function requireLabel(guarded: string, label: string): string {
  const [head = '', rest = ''] = splitHead(guarded);
  return `${head}+(${rest}) +label:"${label}"`;
}

/** Control characters and halves of surrogate pairs mean nothing to a search and something to parsers. */
export function readable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim();
}

function guardSyntax(text: string): string {
  const [head = '', rest = ''] = splitHead(text);
  const tokens = scanQuery(rest);
  if (tokens !== null && isWellFormed(tokens)) return `${head}(${joined(tokens)})`;
  const literal = literalText(rest);
  if (literal === '') throw invalidQuery('must contain at least one word');
  return `${head}${literal}`;
}

/**
 * Fess puts a query that contains ` OR ` into parentheses, together with the label that `requireLabel` adds, and both
 * become optional where it searches again with OR. So `a OR b` is written `(a)OR b`, which means the same.
 */
function joined(tokens: readonly QueryToken[]): string {
  return tokens.reduce((text, token, index) => {
    if (token.text === '') return text;
    if (token.kind === 'conjunction' && token.text === 'OR') return `${text}OR`;
    const isOrNext = tokens[index + 1]?.kind === 'conjunction' && tokens[index + 1]?.text === 'OR';
    const written = token.kind === 'clause' && isOrNext ? `(${token.text})` : token.text;
    return text === '' ? written : `${text} ${written}`;
  }, '');
}

/** The only ` OR ` that is left stands in a phrase, where an escaped letter is that letter. */
function unwrapped(query: string): string {
  return query.replaceAll(orInPhrase, '\\');
}

/** Between characters that Fess counts as spaces. */
const fessSpace = String.raw`[\s\u001c-\u001f\u00b6\u180e\u200b-\u200f\ufffd]`;
const orInPhrase = new RegExp(`(?<=${fessSpace})(?=(?:OR|\\|\\|)${fessSpace})`, 'gu');

/** Whether the query begins with `allintitle:` or `allinurl:`. */
export function hasHead(query: string): boolean {
  return splitHead(query)[0] !== '';
}

/** `allintitle:` and `allinurl:` work only at the very beginning, so they stay outside the parentheses. */
function splitHead(text: string): string[] {
  return (/^(allintitle:|allinurl:)?\s*([\s\S]*)$/.exec(text) ?? []).slice(1).map((part) => part ?? '');
}

// Emoji are made of symbols, marks and joiners.
const word = String.raw`(?:[\p{L}\p{N}_]|${symbol})(?:[\p{L}\p{N}\p{M}\u200d_.,'@#$%=-]|${symbol})*`;
const clause = String.raw`[+-]?(?:[a-z_]+:)?(?!(?:AND|OR|NOT)(?:\s|$))(?:"[^"\\]+"|${word})`;
const plainQuery = new RegExp(String.raw`^${clause}(?:\s+${clause})*$`, 'u');

function isPlain(text: string): boolean {
  return text === '*:*' || text === '*' || (plainQuery.test(text) && !/(?:^|\s)[+-]?sort:/.test(text));
}

/**
 * Whether the tokens make a valid query: clauses with AND or OR between them, at most one sign before each,
 * parentheses in pairs and never empty. Stricter than Lucene, never laxer.
 */
function isWellFormed(tokens: readonly QueryToken[]): boolean {
  let depth = 0;
  let expectsClause = true;
  let hasSign = false;
  for (const { kind } of tokens) {
    if (kind === 'clause' || kind === 'open') {
      if (kind === 'open') depth += 1;
      expectsClause = kind === 'open';
      hasSign = false;
    } else if (kind === 'sign') {
      if (hasSign) return false;
      hasSign = true;
      expectsClause = true;
    } else {
      if (expectsClause) return false;
      if (kind === 'close') depth -= 1;
      else expectsClause = true;
      if (depth < 0) return false;
    }
  }
  return depth === 0 && !expectsClause;
}

/** Every run of letters, digits, symbols and joining punctuation as an escaped word; the rest is dropped. */
function literalText(text: string): string {
  return text
    .replaceAll(/[\\"()]/g, ' ')
    .split(/\s+/u)
    .filter((part) => isSearchable(part) && !operatorWords.has(part))
    .map((part) => part.replaceAll(special, String.raw`\$&`))
    .join(' ');
}

const operatorWords = new Set(['AND', 'OR', 'NOT']);
const special = /[-+!{}[\]^~*?:/&|;<>=]/g;

function invalidQuery(fault: string): CarrelError {
  return new CarrelError('invalid_arguments', `query ${fault}.`, { data: { field: 'query' } });
}
