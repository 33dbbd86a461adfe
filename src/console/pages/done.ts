/** The outcome of a change, for the toast on the next page: `?done=deleted:1,2`. The script removes it from the URL. */
export interface Outcome {
  what: string;
  ids: readonly string[];
}

/** Max ids in the URL, which must not become too long. Undo covers only these; the trash has the rest. */
const idsMax = 100;

/** Returns the URL of the next page after a change, with the outcome. */
export function redirectTo(path: string, what: string, ids: readonly (string | number)[] = []): string {
  const done = encodeURIComponent(`${what}:${ids.slice(0, idsMax).join(',')}`);
  return `${path}${path.includes('?') ? '&' : '?'}done=${done}`;
}

export function outcomeOf(query: URLSearchParams): Outcome | undefined {
  const [, what, ids] = /^([a-z-]{1,30}):([\w,-]{0,5000})$/.exec(query.get('done') ?? '') ?? [];
  return what === undefined ? undefined : { what, ids: (ids ?? '').split(',').filter((id) => id !== '') };
}
