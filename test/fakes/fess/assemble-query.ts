import type { DefaultField } from './lucene/evaluate.ts';
import { QuerySyntaxError } from './lucene/lexer.ts';
import { type Operator, parseQuery, type Query } from './lucene/parser.ts';
import { parseSort, type SortKey } from './sort.ts';

export interface ParsedSearch {
  query: Query | null;
  sort: SortKey[];
  defaultField: DefaultField;
  /** Echoed in the answer as `search_query`. */
  text: string;
}

/**
 * Builds and parses the same text as Fess: the query, then every `fields.*` filter, then the sort, as one string. Nothing protects
 * the filters from the text before them. The bridge must guard against this flaw, so the fake reproduces it exactly. Only text
 * with ` OR ` or ` || ` is put in parentheses. After a syntax error, there is one retry with the query escaped, except for double
 * quotes and the words AND, OR and NOT.
 */
export function parseSearch(params: URLSearchParams, operator: Operator = 'AND'): ParsedSearch {
  const text = assembleQuery(params, false);
  try {
    return parseText(text, operator);
  } catch (error) {
    if (!(error instanceof QuerySyntaxError)) throw error;
    return parseText(assembleQuery(params, true), operator);
  }
}

export function assembleQuery(params: URLSearchParams, escaped: boolean): string {
  const base = baseQuery(params).trim();
  let text = escaped ? escapeReserved(base) : base;
  for (const extra of params.getAll('ex_q')) {
    if (extra.trim() !== '' && extra.length <= 1000) text += ` ${withParentheses(extra)}`;
  }
  for (const [field, values] of fieldFilters(params)) {
    const clauses = values.map((value) => `${field}:"${value}"`);
    text += clauses.length === 1 ? ` ${clauses[0]}` : ` (${clauses.join(' OR ')})`;
  }
  const sort = params.get('sort') ?? '';
  return sort.trim() === '' ? text.trim() : `${text.trim()} sort:${sort}`;
}

function parseText(text: string, operator: Operator): ParsedSearch {
  const prefix = /^(allintitle|allinurl):/.exec(text);
  const prefixField = prefix?.[1] === 'allintitle' ? 'title' : 'url';
  const defaultField = prefix === null ? 'text' : prefixField;
  const body = prefix === null ? text : text.slice(prefix[0].length);
  if (body.trim() === '') return { query: null, sort: [], defaultField, text };
  const sort: SortKey[] = [];
  const query = extractSort(parseQuery(body, operator), sort);
  if (query === null && sort.length === 0) throw new QuerySyntaxError('nothing to search');
  return { query: query ?? { kind: 'all' }, sort, defaultField, text };
}

/** Removes `sort:…` clauses from the query, at any position, and adds them to `sort`. Like Fess, rejects regular expressions. */
function extractSort(query: Query, sort: SortKey[]): Query | null {
  if (query.kind === 'regexp') throw new QuerySyntaxError('unknown query');
  if (query.kind === 'term' && query.field === 'sort') {
    sort.push(...parseSort(query.text));
    return null;
  }
  if (query.kind !== 'boolean') return query;
  const clauses = query.clauses.flatMap(({ occur, query: inner }) => {
    const remaining = extractSort(inner, sort);
    return remaining === null ? [] : [{ occur, query: remaining }];
  });
  return clauses.length === 0 ? null : { kind: 'boolean', clauses };
}

function baseQuery(params: URLSearchParams): string {
  const advanced = advancedConditions(params);
  if (advanced !== '') return advanced;
  const query = params.get('q') ?? '';
  return query.trim() === '' ? '' : withParentheses(query);
}

/** Returns the conditions of the advanced search as query text. If there are any, Fess ignores `q`. */
function advancedConditions(params: URLSearchParams): string {
  const parts = params.getAll('as.q').filter((value) => value.trim() !== '');
  for (const phrase of params.getAll('as.epq')) parts.push(`"${phrase.replaceAll('"', '\\"')}"`);
  for (const any of params.getAll('as.oq')) parts.push(withParentheses(any.trim().split(/ +/).join(' OR ')));
  for (const none of params.getAll('as.nq'))
    parts.push(
      ...none
        .trim()
        .split(/ +/)
        .map((word) => `NOT ${word}`),
    );
  for (const type of params.getAll('as.filetype')) parts.push(`filetype:"${type.trim()}"`);
  for (const site of params.getAll('as.sitesearch')) parts.push(`site:${site.trim()}`);
  return parts.join(' ');
}

function withParentheses(text: string): string {
  const withPlainSpaces = text.replace(otherSpaces, ' ');
  return withPlainSpaces.includes(' OR ') || withPlainSpaces.includes(' || ') ? `(${text})` : text;
}

/** Characters that count as spaces when Fess looks for ` OR `. Its query parser treats only some of them as spaces. */
const otherSpaces = /[\t-\r\u001c-\u001f\u00a0\u1680\u180e\u2000-\u200f\u202f\u205f\u3000\ufeff\ufffd\u00b6]/g;

const reserved = ['\\', '+', '-', '&&', '||', '!', '(', ')', '{', '}', '[', ']', '^', '~', '*', '?', ';', ':', '/'];

function escapeReserved(text: string): string {
  let escaped = text;
  for (const element of reserved) escaped = escaped.replaceAll(element, element.replaceAll(/[\s\S]/g, '\\$&'));
  return escaped;
}

function fieldFilters(params: URLSearchParams): Map<string, string[]> {
  const filters = new Map<string, string[]>();
  for (const [name, value] of params) {
    if (!name.startsWith('fields.') || value === '') continue;
    const field = name.slice('fields.'.length);
    filters.set(field, [...(filters.get(field) ?? []), value]);
  }
  return filters;
}
