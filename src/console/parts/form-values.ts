import { CarrelError } from '../../base/errors.ts';

export function offsetOf(query: URLSearchParams): number {
  const offset = Number(query.get('offset') ?? 0);
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
}

/** Returns the tags of a form if they were changed. Unchanged tags are omitted, because a tag with a comma would be split. */
export function changedTags(form: URLSearchParams): { tags?: string[] } {
  return form.get('tags') === form.get('before') ? {} : { tags: listOf(form.get('tags')) };
}

/** Splits comma-separated names, without duplicates. */
export function listOf(text: string | null): string[] {
  return [...new Set((text ?? '').split(',').map((each) => each.trim()))].filter((each) => each !== '');
}

/** Creates the error for a page or form that does not exist. */
export function pageNotFound(): CarrelError {
  return new CarrelError('resource_not_found', 'There is no page at this address.');
}
