/**
 * The tokens of Lucene's classic query syntax. As in Lucene's scanner, the longest match wins; of equally long ones, the first in
 * the list. Order and character classes decide which hostile queries can swallow the label clause that Fess appends, so they
 * follow Lucene's grammar exactly.
 */
export type TokenKind =
  | 'AND'
  | 'OR'
  | 'NOT'
  | 'PLUS'
  | 'MINUS'
  | 'BARE_OPERATOR'
  | 'LEFT'
  | 'RIGHT'
  | 'COLON'
  | 'STAR'
  | 'CARET'
  | 'QUOTED'
  | 'TERM'
  | 'FUZZY'
  | 'PREFIX'
  | 'WILDCARD'
  | 'REGEXP'
  | 'RANGE_IN_START'
  | 'RANGE_EX_START'
  | 'NUMBER'
  | 'RANGE_TO'
  | 'RANGE_IN_END'
  | 'RANGE_EX_END'
  | 'RANGE_QUOTED'
  | 'RANGE_GOOP'
  | 'END';

export interface Token {
  kind: TokenKind;
  text: string;
}

/** A syntax error. Fess retries such a query with escaped text, and answers 400 if that fails too. */
export class QuerySyntaxError extends Error {}

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let state: State = 'default';
  let at = 0;
  while (at < text.length) {
    if (state !== 'boost' && isBlank(text[at])) {
      at += 1;
      continue;
    }
    const token = longestMatch(text, at, state);
    if (token === undefined) throw new QuerySyntaxError(`no token at ${at}`);
    tokens.push(token);
    at += token.text.length;
    state = nextState(token.kind, state);
  }
  tokens.push({ kind: 'END', text: '' });
  return tokens;
}

type State = 'default' | 'boost' | 'range';

const termStart = String.raw`(?:[^ \t\n\r\u3000+\-!():^\[\]"{}~*?\\/]|\\[\s\S])`;
const termPart = `(?:${termStart}|[-+])`;

const rules: Record<State, [TokenKind, RegExp][]> = {
  default: [
    ['AND', /AND|&&/y],
    ['OR', /OR|\|\|/y],
    ['NOT', /NOT|!/y],
    ['PLUS', /\+/y],
    ['MINUS', /-/y],
    ['BARE_OPERATOR', /[-+!][ \t\n\r\u3000]/y],
    ['LEFT', /\(/y],
    ['RIGHT', /\)/y],
    ['COLON', /:/y],
    ['STAR', /\*/y],
    ['CARET', /\^/y],
    ['QUOTED', /"(?:[^"\\]|\\[\s\S])*"/y],
    ['TERM', new RegExp(`${termStart}${termPart}*`, 'y')],
    ['FUZZY', /~(?:[0-9]+(?:\.[0-9]+)?)?/y],
    ['PREFIX', new RegExp(String.raw`\*|${termStart}${termPart}*\*`, 'y')],
    ['WILDCARD', new RegExp(`(?:${termStart}|[*?])(?:${termPart}|[*?])*`, 'y')],
    ['REGEXP', /\/(?:\\\/|[^/])*\//y],
    ['RANGE_IN_START', /\[/y],
    ['RANGE_EX_START', /\{/y],
  ],
  boost: [['NUMBER', /[0-9]+(?:\.[0-9]+)?/y]],
  range: [
    ['RANGE_TO', /TO/y],
    ['RANGE_IN_END', /\]/y],
    ['RANGE_EX_END', /\}/y],
    ['RANGE_QUOTED', /"(?:\\"|[^"])+"/y],
    ['RANGE_GOOP', /[^ \]}]+/y],
  ],
};

function longestMatch(text: string, at: number, state: State): Token | undefined {
  let best: Token | undefined;
  for (const [kind, rule] of rules[state]) {
    rule.lastIndex = at;
    const match = rule.exec(text)?.[0];
    if (match !== undefined && match.length > (best?.text.length ?? 0)) best = { kind, text: match };
  }
  return best;
}

function nextState(kind: TokenKind, state: State): State {
  if (kind === 'CARET') return 'boost';
  if (kind === 'RANGE_IN_START' || kind === 'RANGE_EX_START') return 'range';
  if (kind === 'NUMBER' || kind === 'RANGE_IN_END' || kind === 'RANGE_EX_END') return 'default';
  return state;
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && ' \t\n\r\u3000'.includes(character);
}
