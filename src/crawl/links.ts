import { createGlob } from '../base/glob.ts';
import { decodePercent } from '../base/text.ts';
import type { SourceSettings } from '../storage/web/sources.ts';
import { folderOf, isMedia, normaliseUrl, numberedPattern } from './address.ts';

export type Scope = (url: string) => boolean;

/**
 * Decides which URLs belong to a source. They must match an include pattern or, without patterns, be in the folder of the
 * source's URL. A pattern with a scheme is matched against the whole URL, so it can name another origin.
 */
export function createScope(root: string, { include, exclude, listing }: SourceSettings): Scope {
  const { origin } = new URL(root);
  const folder = folderOf(root);
  const included = include.map((pattern) => urlGlob(pattern, origin));
  const excluded = exclude.map((pattern) => urlGlob(pattern, origin));
  return (url) => {
    if (isMedia(url) || excluded.some((matches) => matches(url))) return false;
    if (included.length > 0) return included.some((matches) => matches(url));
    // Entries of a feed are rarely below its URL.
    return listing === 'feed' ? new URL(url).origin === origin : url.startsWith(folder);
  };
}

function urlGlob(pattern: string, sourceOrigin: string): Scope {
  const matches = createGlob(pattern);
  const hasScheme = /^https?:\/\//i.test(pattern);
  return (url) => {
    const { origin, pathname } = new URL(url);
    if (hasScheme) return matches(`${origin}${pathname}`);
    // Decoded, because people write patterns in readable letters.
    return origin === sourceOrigin && matches(decodePercent(pathname.slice(1)));
  };
}

/** Max fraction of a source's pages with the same numbered pattern, such as the months of a calendar. */
const patternFraction = 0.2;
const smallestPatternMax = 20;

/** Chooses the links of a page that are new to the source. */
export function createLinkChooser(pagesMax: number) {
  const knownUrls = new Set<string>();
  const patterns = new Map<string, number>();
  const patternMax = Math.max(smallestPatternMax, Math.floor(pagesMax * patternFraction));
  return {
    get size() {
      return knownUrls.size;
    },
    /** Adds a URL to the known ones. Returns false if it was already known. */
    learn(url: string): boolean {
      if (knownUrls.has(url)) return false;
      knownUrls.add(url);
      const pattern = numberedPattern(url);
      if (pattern !== undefined) patterns.set(pattern, (patterns.get(pattern) ?? 0) + 1);
      return true;
    },
    forget: (url: string) => void knownUrls.delete(url),
    /** Returns the new URLs and adds them to the known ones. `omitted` counts links whose pattern is too frequent. */
    choose(urls: Iterable<string>, scope: Scope): { readonly fresh: string[]; readonly omitted: number } {
      const fresh: string[] = [];
      let omitted = 0;
      for (const link of urls) {
        // Stops early, because one page may have a hundred thousand links.
        if (fresh.length >= pagesMax) break;
        const url = normaliseUrl(link);
        if (url === undefined || knownUrls.has(url) || !scope(url)) continue;
        const pattern = numberedPattern(url);
        if (pattern !== undefined && (patterns.get(pattern) ?? 0) >= patternMax) omitted += 1;
        else {
          fresh.push(url);
          this.learn(url);
        }
      }
      return { fresh, omitted };
    },
  };
}
