import { countingPattern, normalise } from './address.ts';
import type { Scope } from './scope.ts';

/** Chooses the links of a page that are new to the source. */
export interface LinkChooser {
  choose(urls: Iterable<string>, scope: Scope): { readonly fresh: string[]; readonly counted: number };
  /** Adds a URL to the known ones. Returns false if it was already there. */
  learn(url: string): boolean;
  forget(url: string): void;
  readonly size: number;
}

/** URLs of one numbered pattern, such as the months of a calendar, may be at most this share of a source's pages. */
const patternShare = 0.2;
const patternMin = 20;

/** In the result of `choose`, `counted` is how many links were omitted because too many have the same pattern. */
export function createLinkChooser(pagesMax: number): LinkChooser {
  const known = new Set<string>();
  const patterns = new Map<string, number>();
  const patternMax = Math.max(patternMin, Math.floor(pagesMax * patternShare));

  function learn(url: string): boolean {
    if (known.has(url)) return false;
    known.add(url);
    const pattern = countingPattern(url);
    if (pattern !== undefined) patterns.set(pattern, (patterns.get(pattern) ?? 0) + 1);
    return true;
  }

  return {
    learn,
    forget: (url) => void known.delete(url),
    get size() {
      return known.size;
    },
    choose(urls, scope) {
      const fresh = new Set<string>();
      let counted = 0;
      for (const link of urls) {
        // Stops early: one page may have a hundred thousand links.
        if (fresh.size >= pagesMax) break;
        const url = normalise(link);
        if (url === undefined || known.has(url) || fresh.has(url) || !scope(url)) continue;
        const pattern = countingPattern(url);
        const others = pattern === undefined ? 0 : (patterns.get(pattern) ?? 0);
        if (others >= patternMax) counted += 1;
        else {
          fresh.add(url);
          if (pattern !== undefined) patterns.set(pattern, others + 1);
        }
      }
      // `learn` is not used here: it would count the patterns a second time.
      for (const url of fresh) known.add(url);
      return { fresh: [...fresh], counted };
    },
  };
}
