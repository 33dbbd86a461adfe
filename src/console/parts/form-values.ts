import { CarrelError } from '../../base/errors.ts';

export function offsetOf(query: URLSearchParams): number {
  const given = Number(query.get('offset') ?? 0);
  return Number.isSafeInteger(given) && given > 0 ? given : 0;
}

/** The tags of a form, if they were changed: a tag with a comma in it would become two otherwise. */
export function changedTags(form: URLSearchParams): { tags?: string[] } {
  return form.get('tags') === form.get('before') ? {} : { tags: listOf(form.get('tags')) };
}

/** Names between commas. */
export function listOf(text: string | null): string[] {
  return [...new Set((text ?? '').split(',').map((each) => each.trim()))].filter((each) => each !== '');
}

/** For a form that changes nothing that there is. */
export function noSuchChange(): CarrelError {
  return new CarrelError('resource_not_found', 'There is no page at this address.');
}
