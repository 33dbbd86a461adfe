/** The outcome of a change, for the toast on the next page: `?done=deleted:1,2`. The script removes it from the URL. */
export interface Outcome {
  change: string;
  ids: readonly string[];
}

/** Max ids in the URL. Undo covers only these; the trash has the others. */
const idsMax = 100;

/** Returns the URL of the next page after a change, with the outcome. */
export function redirectTo(path: string, change: string, ids: readonly (string | number)[] = []): string {
  const done = encodeURIComponent(`${change}:${ids.slice(0, idsMax).join(',')}`);
  return `${path}${path.includes('?') ? '&' : '?'}done=${done}`;
}

export function outcomeOf(query: URLSearchParams): Outcome | undefined {
  const [, change, ids] = /^([a-z-]{1,30}):([\w,-]{0,5000})$/.exec(query.get('done') ?? '') ?? [];
  return change === undefined ? undefined : { change, ids: (ids ?? '').split(',').filter((id) => id !== '') };
}
