import { createGlob } from '../base/glob.ts';
import type { SourceSettings } from '../storage/web/sources.ts';
import { folderOf, isMedia } from './address.ts';

export type Scope = (url: string) => boolean;

/**
 * Decides which URLs belong to a source: those that match an include pattern or, if there are none, those below the folder of
 * the source's own URL. A pattern with a scheme is matched against the whole URL, so it can name another origin.
 */
export function createScope(root: string, { include, exclude, listing }: SourceSettings): Scope {
  const { origin } = new URL(root);
  const folder = folderOf(root);
  const included = include.map(addressGlob);
  const excluded = exclude.map(addressGlob);
  return (url) => {
    if (isMedia(url) || excluded.some((matches) => matches(url, origin))) return false;
    if (included.length > 0) return included.some((matches) => matches(url, origin));
    // Entries of a feed are rarely below its URL.
    return listing === 'feed' ? new URL(url).origin === origin : url.startsWith(folder);
  };
}

function addressGlob(pattern: string): (url: string, origin: string) => boolean {
  const matches = createGlob(pattern);
  const isWhole = /^https?:\/\//i.test(pattern);
  return (url, origin) => {
    const { origin: own, pathname } = new URL(url);
    if (isWhole) return matches(`${own}${pathname}`);
    return own === origin && matches(decoded(pathname.slice(1)));
  };
}

/** Decodes the path, because people write patterns in readable letters. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
