import { CarrelError } from '../base/errors.ts';
import {
  allOf,
  anyOf,
  exactWord,
  isShortPrefix,
  nothing,
  operatorTermsMax,
  phraseQuery,
  plainQuery,
  prefixWord,
  queryPhrasesMax,
  queryPrefixesMax,
  shortPrefixesMax,
  type WordLeaf,
  type WordQuery,
} from './word-query.ts';

export interface BooleanQuery {
  readonly query: WordQuery;
  /** A negation without effect. `alone`: the query has only negations and finds nothing. `alternative`: `a OR NOT b` means `a`. */
  readonly idleNegation: 'alone' | 'alternative' | undefined;
}

/**
 * Parses words, "phrases", prefixes*, AND, OR, NOT, parentheses, and `a | b`, `a & b`, `-a`, `!a`, `+a`.
 *
 * - Any text parses. Operators without operands and unmatched parentheses are ignored.
 * - Adjacent parts must all match. AND binds tighter than OR.
 * - NOT excludes documents from the matches of the adjacent parts. Without such parts, it finds nothing.
 */
export function parseBooleanQuery(text: string): BooleanQuery {
  if (text.length > queryUnitsMax) {
    throw new CarrelError('invalid_arguments', `A query may have at most ${queryUnitsMax} characters. Shorten it.`);
  }
  const parsed = parseOperators(lex(text), text);
  checkSize(parsed.query);
  return parsed;
}

const queryUnitsMax = 1000;

/** Max nesting of parentheses. Deeper ones are ignored. */
const depthMax = 20;

type Token = Words | { kind: 'operator'; text: 'AND' | 'OR' | 'NOT' } | { kind: 'bracket'; text: '(' | ')' };

interface Words {
  kind: 'words';
  text: string;
  isQuoted: boolean;
  /** True if the text ends with a star: the last word is a prefix. */
  isPrefix: boolean;
}

function parseOperators(tokens: readonly Token[], text: string): BooleanQuery {
  const cursor: Cursor = { tokens, at: 0, depth: 0, hasIdleNegation: false };
  const { keep, drop } = parseAny(cursor);
  if (keep !== undefined) return { query: keep, idleNegation: cursor.hasIdleNegation ? 'alternative' : undefined };
  if (drop !== undefined) return { query: nothing, idleNegation: 'alone' };
  return { query: plainQuery(text), idleNegation: undefined };
}

const operators: Readonly<Record<string, 'AND' | 'OR' | 'NOT'>> = {
  AND: 'AND',
  OR: 'OR',
  NOT: 'NOT',
  '|': 'OR',
  '||': 'OR',
  '&': 'AND',
  '&&': 'AND',
  '!': 'NOT',
};

/** Matches one token. A sign belongs to the word right after it; a doubled sign, as in `--force`, is not an operator. */
const lexeme = /"([^"]*)(?:"(\*)?|$)|([()])|(?<![^\s(|])([-!+])(?=["(\p{L}\p{N}])|(\|+)|([^\s"()|]+)/gu;

function lex(text: string): Token[] {
  const tokens: Token[] = [];
  for (const [whole, phrase, star, bracket, sign, bar, word] of text.matchAll(lexeme)) {
    const operator = sign === undefined ? operators[(bar ?? whole).toUpperCase()] : sign === '+' ? 'AND' : 'NOT';
    if (phrase !== undefined)
      tokens.push({ kind: 'words', text: phrase, isQuoted: true, isPrefix: star !== undefined });
    else if (bracket === '(' || bracket === ')') tokens.push({ kind: 'bracket', text: bracket });
    else if (operator !== undefined) tokens.push({ kind: 'operator', text: operator });
    else if (word !== undefined) {
      tokens.push({ kind: 'words', text: word, isQuoted: false, isPrefix: /[^*]\*+$/.test(word) });
    }
  }
  return tokens;
}

interface Cursor {
  readonly tokens: readonly Token[];
  at: number;
  depth: number;
  /** True if a negation among alternatives was ignored. */
  hasIdleNegation: boolean;
}

/** A parsed part of the query: what must match, and what it excludes from adjacent parts. */
interface Parsed {
  keep: WordQuery | undefined;
  drop: WordQuery | undefined;
}

function parseAny(cursor: Cursor): Parsed {
  const keeps: WordQuery[] = [];
  const drops: WordQuery[] = [];
  do {
    const { keep, drop } = parseAll(cursor);
    if (keep !== undefined) keeps.push(keep);
    // In `a OR NOT b`, the second alternative has nothing to exclude from.
    else if (drop !== undefined) drops.push(drop);
  } while (takeOr(cursor));
  if (keeps.length === 0) return { keep: undefined, drop: drops.length > 0 ? anyOf(drops) : undefined };
  if (drops.length > 0) cursor.hasIdleNegation = true;
  return { keep: anyOf(keeps), drop: undefined };
}

function parseAll(cursor: Cursor): Parsed {
  const keeps: WordQuery[] = [];
  const drops: WordQuery[] = [];
  let isNegated = false;
  for (let token = peek(cursor); token !== undefined; token = peek(cursor)) {
    if (token.kind === 'operator' && token.text === 'OR') break;
    if (token.kind === 'bracket' && token.text === ')' && cursor.depth > 0) break;
    cursor.at += 1;
    if (token.kind === 'operator') {
      if (token.text === 'NOT') isNegated = !isNegated;
      continue;
    }
    const part = parsePart(cursor, token);
    const positive = isNegated ? part.drop : part.keep;
    const negative = isNegated ? part.keep : part.drop;
    if (positive !== undefined) keeps.push(positive);
    if (negative !== undefined) drops.push(negative);
    isNegated = false;
  }
  const drop = drops.length > 0 ? anyOf(drops) : undefined;
  if (keeps.length === 0) return { keep: undefined, drop };
  const keep = allOf(keeps);
  if (drop === undefined || drop.kind === 'nothing' || keep.kind === 'nothing') return { keep, drop: undefined };
  return { keep: { kind: 'except', keep, drop }, drop: undefined };
}

function parsePart(cursor: Cursor, token: Exclude<Token, { kind: 'operator' }>): Parsed {
  if (token.kind === 'words') {
    const query = wordsQuery(token);
    // Ignores punctuation, which matches nothing: otherwise the adjacent parts would not match either.
    return { keep: query.kind === 'nothing' ? undefined : query, drop: undefined };
  }
  if (token.text === ')' || cursor.depth >= depthMax) return { keep: undefined, drop: undefined };
  cursor.depth += 1;
  const inner = parseAny(cursor);
  cursor.depth -= 1;
  const next = peek(cursor);
  if (next?.kind === 'bracket' && next.text === ')') cursor.at += 1;
  return inner;
}

function wordsQuery(token: Words): WordQuery {
  if (token.isPrefix) return prefixWord(token.text);
  return token.isQuoted ? phraseQuery(token.text) : exactWord(token.text);
}

function takeOr(cursor: Cursor): boolean {
  const token = peek(cursor);
  if (token?.kind !== 'operator' || token.text !== 'OR') return false;
  cursor.at += 1;
  return true;
}

function peek(cursor: Cursor): Token | undefined {
  return cursor.tokens[cursor.at];
}

function checkSize(query: WordQuery): void {
  const leaves = everyLeaf(query);
  const terms = leaves.reduce((sum, leaf) => sum + (leaf.kind === 'phrase' ? leaf.terms.length : 1), 0);
  if (terms > operatorTermsMax) throw tooLong(`A query with operators may have at most ${operatorTermsMax} words.`);
  const prefixes = leaves.flatMap((leaf) => {
    if (leaf.kind === 'prefix') return [leaf.prefix];
    return leaf.kind === 'phrase' && leaf.lastIsPrefix ? leaf.terms.slice(-1) : [];
  });
  if (prefixes.length > queryPrefixesMax || prefixes.filter(isShortPrefix).length > shortPrefixesMax) {
    throw tooLong(
      `A query may have at most ${queryPrefixesMax} prefixes*, ${shortPrefixesMax} of them with only two letters.`,
    );
  }
  const phrases = leaves.filter(({ kind }) => kind === 'phrase').length;
  if (phrases > queryPhrasesMax) throw tooLong(`A query may have at most ${queryPhrasesMax} "phrases".`);
}

/** Returns all leaves of a query, including excluded and repeated ones. */
function everyLeaf(query: WordQuery): WordLeaf[] {
  if ('parts' in query) return query.parts.flatMap(everyLeaf);
  if (query.kind === 'except') return [...everyLeaf(query.keep), ...everyLeaf(query.drop)];
  return query.kind === 'nothing' ? [] : [query];
}

function tooLong(limit: string): CarrelError {
  return new CarrelError('invalid_arguments', `${limit} Leave some out.`);
}
