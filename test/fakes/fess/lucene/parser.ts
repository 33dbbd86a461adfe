import { QuerySyntaxError, type Token, type TokenKind, tokenize } from './lexer.ts';

/** A parsed query. Without a `field`, Fess searches title and content. */
export type Query =
  | { kind: 'boolean'; clauses: Clause[] }
  | { kind: 'term'; field: string | undefined; text: string; quoted: boolean; fuzzy: boolean }
  | { kind: 'pattern'; field: string | undefined; pattern: string }
  | { kind: 'range'; field: string | undefined; from: string; to: string; fromOpen: boolean; toOpen: boolean }
  | { kind: 'all' }
  /** Lucene parses a regular expression; Fess then rejects it like a syntax error. */
  | { kind: 'regexp' };

export type Occur = 'must' | 'should' | 'must_not';

export interface Clause {
  occur: Occur;
  query: Query;
}

export type Operator = 'AND' | 'OR';

/** Parses a query like Lucene's classic parser. It looks two tokens ahead to distinguish `field:` from a word. */
export function parseQuery(text: string, defaultOperator: Operator = 'AND'): Query {
  const parser = new Parser(tokenize(text), defaultOperator);
  return parser.parse();
}

class Parser {
  private readonly tokens: Token[];
  private readonly operator: Operator;
  private at = 0;

  constructor(tokens: Token[], operator: Operator) {
    this.tokens = tokens;
    this.operator = operator;
  }

  parse(): Query {
    const query = this.query(undefined);
    this.expect('END');
    return query;
  }

  private query(field: string | undefined): Query {
    const clauses: Clause[] = [];
    this.addClause(clauses, undefined, this.modifier(), this.clause(field));
    while (!this.is('END') && !this.is('RIGHT')) {
      const conjunction = this.conjunction();
      this.addClause(clauses, conjunction, this.modifier(), this.clause(field));
    }
    const [only] = clauses;
    return clauses.length === 1 && only !== undefined && only.occur !== 'must_not'
      ? only.query
      : { kind: 'boolean', clauses };
  }

  /** Adds a clause. A conjunction also changes the clause *before* it; this rule makes a trailing OR dangerous. */
  private addClause(
    clauses: Clause[],
    conjunction: Operator | undefined,
    modifier: Modifier,
    query: Query | null,
  ): void {
    const previous = clauses.at(-1);
    if (previous !== undefined && previous.occur !== 'must_not') {
      if (conjunction === 'AND') previous.occur = 'must';
      if (conjunction === 'OR' && this.operator === 'AND') previous.occur = 'should';
    }
    if (query !== null) clauses.push({ occur: this.occur(conjunction, modifier), query });
  }

  private occur(conjunction: Operator | undefined, modifier: Modifier): Occur {
    if (modifier === 'not') return 'must_not';
    if (this.operator === 'AND') return conjunction === 'OR' ? 'should' : 'must';
    return modifier === 'required' || conjunction === 'AND' ? 'must' : 'should';
  }

  private conjunction(): Operator | undefined {
    if (this.accept('AND')) return 'AND';
    return this.accept('OR') ? 'OR' : undefined;
  }

  private modifier(): Modifier {
    if (this.accept('PLUS')) return 'required';
    return this.accept('MINUS') || this.accept('NOT') ? 'not' : 'none';
  }

  private clause(outer: string | undefined): Query | null {
    let field = outer;
    if ((this.is('TERM') || this.is('STAR')) && this.tokens[this.at + 1]?.kind === 'COLON') {
      field = removeEscapes(this.next().text);
      this.at += 1;
    }
    if (!this.accept('LEFT')) return this.term(field);
    const query = this.query(field);
    this.expect('RIGHT');
    this.boost();
    return query;
  }

  private term(field: string | undefined): Query | null {
    const token = this.next();
    if (token.kind === 'RANGE_IN_START' || token.kind === 'RANGE_EX_START') return this.range(field, token);
    if (!termKinds.has(token.kind)) throw new QuerySyntaxError(`unexpected ${token.kind}`);
    const fuzzy = this.suffixes();
    if (token.kind === 'REGEXP') return { kind: 'regexp' };
    if (token.kind === 'STAR') return { kind: 'all' };
    if (token.kind === 'PREFIX' || token.kind === 'WILDCARD') return { kind: 'pattern', field, pattern: token.text };
    const quoted = token.kind === 'QUOTED';
    const text = removeEscapes(quoted ? token.text.slice(1, -1) : token.text).trim();
    // The whitespace analyzer finds no token: Lucene drops the clause, but its conjunction has already taken effect.
    return text === '' ? null : { kind: 'term', field, text, quoted, fuzzy };
  }

  private range(field: string | undefined, opening: Token): Query {
    const from = this.rangeEnd();
    this.accept('RANGE_TO');
    const to = this.rangeEnd();
    const closing = this.next();
    if (closing.kind !== 'RANGE_IN_END' && closing.kind !== 'RANGE_EX_END') throw new QuerySyntaxError('open range');
    this.boost();
    return {
      kind: 'range',
      field,
      from,
      to,
      fromOpen: opening.kind === 'RANGE_EX_START',
      toOpen: closing.kind === 'RANGE_EX_END',
    };
  }

  private rangeEnd(): string {
    const token = this.next();
    if (token.kind === 'RANGE_QUOTED') return removeEscapes(token.text.slice(1, -1));
    if (token.kind === 'RANGE_GOOP' || token.kind === 'RANGE_TO') return removeEscapes(token.text);
    throw new QuerySyntaxError('range without an end');
  }

  private suffixes(): boolean {
    this.boost();
    const fuzzy = this.accept('FUZZY');
    this.boost();
    return fuzzy;
  }

  private boost(): void {
    if (this.accept('CARET')) this.expect('NUMBER');
  }

  private is(kind: TokenKind): boolean {
    return this.tokens[this.at]?.kind === kind;
  }

  private accept(kind: TokenKind): boolean {
    if (!this.is(kind)) return false;
    this.at += 1;
    return true;
  }

  private expect(kind: TokenKind): void {
    if (!this.accept(kind)) throw new QuerySyntaxError(`expected ${kind}`);
  }

  private next(): Token {
    const token = this.tokens[this.at];
    if (token === undefined || token.kind === 'END') throw new QuerySyntaxError('unexpected end');
    this.at += 1;
    return token;
  }
}

type Modifier = 'none' | 'required' | 'not';

const termKinds = new Set<TokenKind>([
  'TERM',
  'STAR',
  'PREFIX',
  'WILDCARD',
  'REGEXP',
  'NUMBER',
  'BARE_OPERATOR',
  'QUOTED',
]);

/** Removes escapes. `\uXXXX` is a character; `\u` without four hex digits is a syntax error, as in Lucene. */
function removeEscapes(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g,
    (_, hex: string | undefined, character: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (character === 'u') throw new QuerySyntaxError('bad unicode escape');
      return character ?? '';
    },
  );
}
