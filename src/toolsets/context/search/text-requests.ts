import { type Language, useLanguage } from '../../../words/language.ts';
import type { WordQuery } from '../../../words/word-query.ts';
import { type FittedOutline, fitOutline, type OutlineBounds } from '../show/fit-outline.ts';
import { findNode, type OutlineNode, outlineOf } from '../show/outline.ts';
import { highlight } from './highlight.ts';

/** What takes time with long texts. */
export type TextRequest =
  // Words are compared by their stems, and a thread has its own setting.
  | { readonly kind: 'highlight'; readonly text: string; readonly query: WordQuery; readonly language: Language }
  | { readonly kind: 'outline'; readonly text: string; readonly bounds: OutlineBounds }
  | { readonly kind: 'section'; readonly text: string; readonly nodeId: string };

export type Section = Pick<OutlineNode, 'char_start' | 'char_end'>;

export type TextAnswer = string | FittedOutline | Section | undefined;

export async function performTextRequest(request: TextRequest): Promise<TextAnswer> {
  if (request.kind === 'outline') return fitOutline(request.text, request.bounds);
  if (request.kind === 'section') {
    const node = findNode(outlineOf(request.text, 6), request.nodeId);
    return node && { char_start: node.char_start, char_end: node.char_end };
  }
  await useLanguage(request.language);
  return highlight(request.text, request.query);
}
