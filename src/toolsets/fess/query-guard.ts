import { CarrelError } from '../../base/errors.ts';
import { isSearchable, type QueryToken, scanQuery, symbol } from './query-scanner.ts';

/** Max characters of a query. Fess 15.7 and later reject longer ones; earlier versions limit the request line to 8 KiB. */
export const queryLengthMax = 1000;

/**
 * Makes a query safe to put before the label filter.
 *
 * Fess builds `<q> label:"<label>"` and parses all of it, so a query that ends with `OR`, `NOT` or a backslash would disable the
 * filter. The result has one of three forms, each of which keeps the filter a separate required clause:
 *
 * - plain words, phrases and `field:word`, unchanged: they contain no operator;
 * - a well-formed query in parentheses. If the search engine rejects it, Fess tries again with special characters escaped; then
 *   the closing parenthesis becomes a word, which still separates query and filter;
 * - any other query as literal text, without operators and with special characters escaped.
 */
export function guardQuery(query: string): string {
  const text = replaceControls(query);
  if (text === '') throw invalidQuery('must not be empty');
  const guarded = hideOrInPhrases(isPlain(text) ? text.replaceAll(/\s+/gu, ' ') : guardSyntax(text));
  if (guarded.length > queryLengthMax) {
    throw invalidQuery(`must be at most ${queryLengthMax} characters, special characters counting double`);
  }
  return guarded;
}

/**
 * Returns a query that requires both the query and the label, under any default operator. If Fess repeats the search with OR,
 * that affects only the parts inside the parentheses.
 */
export function requireLabel(guarded: string, label: string): string {
  const [prefix = '', terms = ''] = splitAllInPrefix(guarded);
  return `${prefix}+(${terms}) +label:"${label}"`;
}

/** Replaces control characters and lone surrogates: a search does not need them, but they could confuse a parser. */
export function replaceControls(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim();
}

function guardSyntax(text: string): string {
  const [prefix = '', terms = ''] = splitAllInPrefix(text);
  const tokens = scanQuery(terms);
  if (tokens !== null && isWellFormed(tokens)) return `${prefix}(${joinTokens(tokens)})`;
  const literal = literalText(terms);
  if (literal === '') throw invalidQuery('must contain at least one word');
  return `${prefix}${literal}`;
}

/**
 * Joins the tokens without ` OR `. If a query contains it, Fess puts query and label into common parentheses, which makes both
 * optional if the search is repeated with OR. So `a OR b` is written `(a)OR b`, which means the same.
 */
function joinTokens(tokens: readonly QueryToken[]): string {
  return tokens.reduce((text, token, index) => {
    if (token.text === '') return text;
    if (token.kind === 'conjunction' && token.text === 'OR') return `${text}OR`;
    const isOrNext = tokens[index + 1]?.kind === 'conjunction' && tokens[index + 1]?.text === 'OR';
    const part = token.kind === 'clause' && isOrNext ? `(${token.text})` : token.text;
    return text === '' ? part : `${text} ${part}`;
  }, '');
}

/** Hides ` OR ` in phrases from Fess by escaping its first letter, which does not change the meaning. */
function hideOrInPhrases(query: string): string {
  return query.replaceAll(orInPhrase, '\\');
}

/** Characters that Fess treats as spaces. */
const fessSpace = String.raw`[\s\u001c-\u001f\u00b6\u180e\u200b-\u200f\ufffd]`;
const orInPhrase = new RegExp(`(?<=${fessSpace})(?=(?:OR|\\|\\|)${fessSpace})`, 'gu');

/** True if the query begins with `allintitle:` or `allinurl:`. */
export function hasAllInPrefix(query: string): boolean {
  return splitAllInPrefix(query)[0] !== '';
}

/** Splits off `allintitle:` or `allinurl:`. They work only at the very start, so they stay outside the parentheses. */
function splitAllInPrefix(text: string): string[] {
  return (/^(allintitle:|allinurl:)?\s*([\s\S]*)$/.exec(text) ?? []).slice(1).map((part) => part ?? '');
}

// A word may be an emoji, which is made of symbols, marks and joiners.
const word = String.raw`(?:[\p{L}\p{N}_]|${symbol})(?:[\p{L}\p{N}\p{M}\u200d_.,'@#$%=-]|${symbol})*`;
const clause = String.raw`[+-]?(?:[a-z_]+:)?(?!(?:AND|OR|NOT)(?:\s|$))(?:"[^"\\]+"|${word})`;
const plainQuery = new RegExp(String.raw`^${clause}(?:\s+${clause})*$`, 'u');

function isPlain(text: string): boolean {
  return text === '*:*' || text === '*' || (plainQuery.test(text) && !/(?:^|\s)[+-]?sort:/.test(text));
}

/**
 * True if the tokens form a valid query: clauses joined by AND or OR, at most one sign before each, balanced and non-empty
 * parentheses. Lucene accepts all of these, and more.
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

/** Converts a query to escaped words. Drops operators, quotes, parentheses, and words without letters, digits or symbols. */
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
