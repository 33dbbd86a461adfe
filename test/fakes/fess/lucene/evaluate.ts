import { type FakeDocument, fieldValues } from '../fake-document.ts';
import { compare } from '../sort.ts';
import type { Clause, Query } from './parser.ts';

/** The field that is searched for words without a prefix. `allintitle:` or `allinurl:` at the start of a query changes it. */
export type DefaultField = 'text' | 'title' | 'url';

export function matches(query: Query, document: FakeDocument, defaultField: DefaultField = 'text'): boolean {
  switch (query.kind) {
    case 'all':
      return true;
    case 'boolean':
      return matchesBoolean(query.clauses, document, defaultField);
    case 'term':
      return matchesTerm(query, document, defaultField);
    case 'pattern':
      return matchesPattern(query, document, defaultField);
    case 'range':
      return matchesRange(query, document);
    case 'regexp':
      return false;
  }
}

/** Returns the words that OpenSearch would highlight: the positive terms, including the value of the label clause. */
export function positiveTerms(query: Query): string[] {
  if (query.kind === 'term') return [query.text];
  if (query.kind !== 'boolean') return [];
  return query.clauses.filter(({ occur }) => occur !== 'must_not').flatMap(({ query }) => positiveTerms(query));
}

/** Splits a text into words like Lucene's tokenizer: each emoji and each other non-ASCII symbol is a word. */
export function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+|[^\0-\x7f\P{S}]/gu) ?? [];
}

/** Cache of the words of each text: the corpus has few texts, and they are searched thousands of times. */
const wordsByText = new Map<string, string[]>();

export function wordsOfDocument(text: string): string[] {
  const cached = wordsByText.get(text);
  if (cached !== undefined) return cached;
  const found = words(text);
  wordsByText.set(text, found);
  return found;
}

/** Evaluates a query like OpenSearch's bool query. A purely negative one matches everything else, which `foo NOT` exploits. */
function matchesBoolean(clauses: readonly Clause[], document: FakeDocument, defaultField: DefaultField): boolean {
  const isMatch = ({ query }: Clause) => matches(query, document, defaultField);
  const must = clauses.filter(({ occur }) => occur === 'must');
  const should = clauses.filter(({ occur }) => occur === 'should');
  if (clauses.some((clause) => clause.occur === 'must_not' && isMatch(clause))) return false;
  if (!must.every(isMatch)) return false;
  return must.length > 0 || should.length === 0 || should.some(isMatch);
}

type Term = Extract<Query, { kind: 'term' }>;

function matchesTerm(term: Term, document: FakeDocument, defaultField: DefaultField): boolean {
  if (term.field === undefined) return searchedTexts(document, defaultField).some((text) => hasPhrase(text, term));
  const values = fieldValues(document, term.field);
  // Fess treats an unknown prefix as text and searches for `foo:bar`.
  if (values === undefined) {
    const literalTerm = { ...term, field: undefined, text: `${term.field}:${term.text}` };
    return searchedTexts(document, defaultField).some((text) => hasPhrase(text, literalTerm));
  }
  if (term.field === 'title' || term.field === 'content') return values.some((value) => hasPhrase(value, term));
  if (term.field === 'site') return values.some((value) => value.startsWith(term.text));
  if (term.field === 'inurl') return values.some((value) => value.includes(term.text));
  return values.includes(term.text);
}

function searchedTexts(document: FakeDocument, defaultField: DefaultField): string[] {
  if (defaultField === 'title') return [document.title ?? ''];
  if (defaultField === 'url') return [document.url];
  return [document.title ?? '', document.content];
}

/** True if the text has the term's tokens as a phrase (`e-mail` has two tokens). A term without tokens matches nothing. */
function hasPhrase(text: string, term: Term): boolean {
  const termWords = words(term.text);
  const documentWords = wordsOfDocument(text);
  const [first] = termWords;
  if (first === undefined || (!term.fuzzy && !documentWords.includes(first))) return false;
  const isSameWord = (a: string | undefined, b: string | undefined) =>
    a === b || (term.fuzzy && a !== undefined && b !== undefined && distance(a, b) <= 2);
  return documentWords.some((_, at) => termWords.every((word, offset) => isSameWord(documentWords[at + offset], word)));
}

function matchesPattern(
  { field, pattern }: Extract<Query, { kind: 'pattern' }>,
  document: FakeDocument,
  defaultField: DefaultField,
): boolean {
  const regex = wildcard(pattern);
  const values = field === undefined ? undefined : fieldValues(document, field);
  if (field === undefined || field === 'title' || field === 'content' || values === undefined) {
    const texts = values ?? searchedTexts(document, defaultField);
    return texts.some((text) => wordsOfDocument(text).some((word) => regex.test(word)));
  }
  return values.some((value) => regex.test(value));
}

function wildcard(pattern: string): RegExp {
  const source = pattern.replace(/\\[\s\S]|\*+|[?]|[.+^${}()|[\]\\/]/g, (part) => {
    if (part.startsWith('*')) return '.*';
    if (part === '?') return '.';
    const literal = part.length === 2 ? part.slice(1) : part;
    return /[\p{L}\p{N}\s]/u.test(literal) ? literal : `\\${literal}`;
  });
  return new RegExp(`^${source}$`, 'is');
}

function matchesRange(range: Extract<Query, { kind: 'range' }>, document: FakeDocument): boolean {
  const values = range.field === undefined ? undefined : fieldValues(document, range.field);
  if (values === undefined) return false;
  const isNumeric = range.field === 'content_length' || range.field === 'click_count';
  const order = (a: string, b: string) => (isNumeric ? Number(a) - Number(b) : compare(a, b));
  return values.some((value) => {
    const low = range.from === '*' ? 1 : order(value, range.from);
    const high = range.to === '*' ? -1 : order(value, range.to);
    return (range.fromOpen ? low > 0 : low >= 0) && (range.toOpen ? high < 0 : high <= 0);
  });
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, change));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
