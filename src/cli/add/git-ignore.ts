import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { readRegularFile } from '../../base/read-regular-file.ts';

/** What the `.gitignore` files around a folder say of the names in it (gitignore(5)). */
export interface IgnoreRules {
  /** The same for a folder below, which may have rules of its own. */
  into(folder: string): IgnoreRules;
  ignores(path: string, isFolder: boolean): boolean;
}

/** Longer than any that people write. */
const fileBytesMax = 1024 * 1024;

/** For a folder that somebody named. In a repository, the rules of the folders above it count as well. */
export function rulesFor(folder: string): IgnoreRules {
  const above = foldersAbove(folder)
    .reverse()
    .reduce((rules, each) => rules.into(each), rulesOf([]));
  // Whoever names a folder that is ignored wants it all the same.
  return (above.ignores(folder, true) ? rulesOf([]) : above).into(folder);
}

export const noRules: IgnoreRules = { into: () => noRules, ignores: () => false };

interface Rules {
  folder: string;
  matcher: Ignore;
}

/** The nearest file that says anything of a name decides. */
function rulesOf(nearestFirst: readonly Rules[]): IgnoreRules {
  return {
    into(folder) {
      const matcher = readRules(folder);
      return matcher === undefined ? this : rulesOf([{ folder, matcher }, ...nearestFirst]);
    },
    ignores(path, isFolder) {
      for (const { folder, matcher } of nearestFirst) {
        const name = `${relative(folder, path).replaceAll(sep, '/')}${isFolder ? '/' : ''}`;
        const { ignored, unignored } = matcher.test(name);
        if (ignored || unignored) return ignored;
      }
      return false;
    },
  };
}

function readRules(folder: string): Ignore | undefined {
  const file = join(folder, '.gitignore');
  try {
    return ignore().add(readRegularFile(file, fileBytesMax));
  } catch {
    // Most folders have none. A pipe or a device holds no rules.
    return undefined;
  }
}

/** Up to the root of the repository, the nearest first; none outside of one. */
function foldersAbove(folder: string): string[] {
  const above: string[] = [];
  for (let current = folder; !existsSync(join(current, '.git')); ) {
    const parent = dirname(current);
    if (parent === current) return [];
    above.push(parent);
    current = parent;
  }
  return above;
}
