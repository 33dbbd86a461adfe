import { CarrelError } from '../../base/errors.ts';
import { isSearchable, type QueryToken, scanQuery, symbol } from './query-scanner.ts';

/** Fess 15.7 and later reject longer parameters; earlier versions limit the request line to 8 KiB. */
export const queryLengthMax = 1000;

/**
 * Makes a query safe to precede the label filter.
 *
 * Fess builds `<q> label:"<label>"` and parses the whole, so `foo OR`, `foo NOT` or a trailing backslash would undo
 * the filter. The result has one of three forms, each of which keeps the filter a separate required clause:
 *
 * - plain words, phrases and `field:word`, unchanged: they contain no operator;
 * - a well-formed query in parentheses, which Fess parses at its first attempt; if its engine rejects it, the second
 * attempt escapes our closing parenthesis into a word that still separates query and filter;
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
 * Query and label, both required under any default operator: a repeated search with OR can loosen what is inside the
 * parentheses, but neither of the two.
 */
export function requireLabel(guarded: string, label: string): string {
  const [head = '', rest = ''] = splitHead(guarded);
  return `${head}+(${rest}) +label:"${label}"`;
}

/** Control characters and lone surrogates mean nothing to a search but something to parsers. */
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
 * Fess parenthesizes a query that contains ` OR ` together with the label, which makes both optional in a repeated
 * search with OR. So `a OR b` is written `(a)OR b`, which means the same.
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

/** Any remaining ` OR ` is in a phrase. Escaping a letter there hides it from Fess without changing its meaning. */
function unwrapped(query: string): string {
  return query.replaceAll(orInPhrase, '\\');
}

/** Characters that Fess treats as spaces. */
const fessSpace = String.raw`[\s\u001c-\u001f\u00b6\u180e\u200b-\u200f\ufffd]`;
const orInPhrase = new RegExp(`(?<=${fessSpace})(?=(?:OR|\\|\\|)${fessSpace})`, 'gu');

/** Whether the query begins with `allintitle:` or `allinurl:`. */
export function hasHead(query: string): boolean {
  return splitHead(query)[0] !== '';
}

/** `allintitle:` and `allinurl:` work only at the very start, so they stay outside the parentheses. */
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
 * Whether the tokens form a valid query: clauses joined by AND or OR, at most one sign before each, balanced and
 * non-empty parentheses. Stricter than Lucene, never laxer.
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

/** Runs of letters, digits, symbols and joining punctuation become escaped words; the rest is dropped. */
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
