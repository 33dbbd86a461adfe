import { countingPattern, normalise } from './address.ts';
import type { Scope } from './scope.ts';

/** Chooses the links of a page that are new to the source. */
export interface LinkChooser {
  choose(urls: Iterable<string>, scope: Scope): { readonly fresh: string[]; readonly counted: number };
  /** Marks a page as known. Returns false if it was known already. */
  learn(url: string): boolean;
  forget(url: string): void;
  readonly size: number;
}

/** Max share of a source for URLs of one numbered pattern, such as the months of a calendar. */
const patternShare = 0.2;
const patternMin = 20;

/** `counted`: links omitted because their pattern has too many. */
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
        // One page may have a hundred thousand links.
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
      // Not with `learn`, which would count their patterns a second time.
      for (const url of fresh) known.add(url);
      return { fresh: [...fresh], counted };
    },
  };
}
