import { createGlob } from '../base/glob.ts';
import type { SourceSettings } from '../storage/web/sources.ts';
import { folderOf, isMedia } from './address.ts';

export type Scope = (url: string) => boolean;

/**
 * Which addresses belong to a source: of the same origin, below the folder of its own address or, where there are patterns to
 * include, matching one. A pattern with a scheme is matched with the whole address, and so can name another origin.
 */
export function createScope(root: string, { include, exclude, listing }: SourceSettings): Scope {
  const { origin } = new URL(root);
  const folder = folderOf(root);
  const included = include.map(addressGlob);
  const excluded = exclude.map(addressGlob);
  return (url) => {
    if (isMedia(url) || excluded.some((matches) => matches(url, origin))) return false;
    if (included.length > 0) return included.some((matches) => matches(url, origin));
    // Entries of a feed are seldom below it.
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

/** People write patterns with the letters that they see. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
