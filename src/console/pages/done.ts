/** What a change did, for the page that follows: `?done=deleted:1,2`. The script takes it out of the address again. */
export interface Done {
  what: string;
  ids: readonly string[];
}

/** More ids make the address too long; the toast then has no way back, and the trash has them. */
const idsMax = 100;

/** The page to go to after a change. */
export function afterwards(path: string, what: string, ids: readonly (string | number)[] = []): string {
  const done = encodeURIComponent(`${what}:${ids.slice(0, idsMax).join(',')}`);
  return `${path}${path.includes('?') ? '&' : '?'}done=${done}`;
}

export function doneOf(query: URLSearchParams): Done | undefined {
  const [, what, ids] = /^([a-z-]{1,30}):([\w,-]{0,5000})$/.exec(query.get('done') ?? '') ?? [];
  return what === undefined ? undefined : { what, ids: (ids ?? '').split(',').filter((id) => id !== '') };
}
