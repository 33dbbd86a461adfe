import { bestPart, type TextPart, type Windowed } from '../../../search/reranking/best-part.ts';
import { matchedWords } from '../../../tools/why-found.ts';
import { type Language, useLanguage } from '../../../words/language.ts';
import { makeSnippet } from '../../../words/snippet.ts';
import { plainQuery, type WordQuery } from '../../../words/word-query.ts';
import { type FittedOutline, fitOutline, type OutlineBounds } from '../show/fit-outline.ts';
import { findNode, type OutlineNode, outlineOf } from '../show/outline.ts';
import { highlight } from './highlight.ts';

/** What takes time with long texts. */
export type TextRequest =
  // Words are compared by their stems, and a thread has its own setting.
  | { readonly kind: 'highlight'; readonly text: string; readonly query: WordQuery; readonly language: Language }
  | { readonly kind: 'parts'; readonly texts: readonly Windowed[]; readonly query: string; readonly language: Language }
  | {
      readonly kind: 'excerpts';
      readonly texts: readonly string[];
      readonly query: string;
      readonly language: Language;
    }
  | { readonly kind: 'outline'; readonly text: string; readonly bounds: OutlineBounds }
  | { readonly kind: 'section'; readonly text: string; readonly nodeId: string };

export type Section = Pick<OutlineNode, 'char_start' | 'char_end'>;

/** What a hit shows of a text. */
export interface Excerpt {
  readonly snippet: string;
  /** Where the snippet stands in the text, in UTF-16 units. */
  readonly range: readonly [start: number, end: number];
  /** Of the query, that are in the text. */
  readonly words: readonly string[];
}

export type TextAnswer = string | readonly TextPart[] | readonly Excerpt[] | FittedOutline | Section | undefined;

/** Characters that a request is about. */
export function unitsOf(request: TextRequest): number {
  if (request.kind === 'parts') return request.texts.reduce((sum, { text }) => sum + text.length, 0);
  if (request.kind === 'excerpts') return request.texts.reduce((sum, text) => sum + text.length, 0);
  return request.text.length;
}

export async function performTextRequest(request: TextRequest): Promise<TextAnswer> {
  if (request.kind === 'outline') return fitOutline(request.text, request.bounds);
  if (request.kind === 'section') {
    const node = findNode(outlineOf(request.text, 6), request.nodeId);
    return node && { char_start: node.char_start, char_end: node.char_end };
  }
  await useLanguage(request.language);
  if (request.kind === 'parts') return request.texts.map((each) => bestPart(each, request.query));
  if (request.kind === 'excerpts') {
    const { query } = request;
    return request.texts.map((text) => {
      const { text: snippet, range } = makeSnippet(text, plainQuery(query));
      return { snippet, range, words: matchedWords(query, text) };
    });
  }
  return highlight(request.text, request.query);
}
