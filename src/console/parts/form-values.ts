import { CarrelError } from '../../base/errors.ts';

export function offsetOf(query: URLSearchParams): number {
  const given = Number(query.get('offset') ?? 0);
  return Number.isSafeInteger(given) && given > 0 ? given : 0;
}

/** The tags of a form, if changed: an unchanged tag that contains a comma would be split. */
export function changedTags(form: URLSearchParams): { tags?: string[] } {
  return form.get('tags') === form.get('before') ? {} : { tags: listOf(form.get('tags')) };
}

/** Comma-separated names. */
export function listOf(text: string | null): string[] {
  return [...new Set((text ?? '').split(',').map((each) => each.trim()))].filter((each) => each !== '');
}

/** For a form whose action is unknown. */
export function noSuchChange(): CarrelError {
  return new CarrelError('resource_not_found', 'There is no page at this address.');
}
