import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { readRegularFile } from '../../base/read-regular-file.ts';

/** The rules of the .gitignore files around a folder (gitignore(5)). */
export interface IgnoreRules {
  /** Returns the rules for a subfolder, including its .gitignore file. */
  forSubfolder(folder: string): IgnoreRules;
  ignores(path: string, isFolder: boolean): boolean;
}

/** Max bytes of a .gitignore file; larger ones are not read. */
const fileBytesMax = 1024 * 1024;

/** Reads the rules for a folder. In a repository, the rules of its parent folders also apply. */
export function rulesFor(folder: string): IgnoreRules {
  const parentRules = parentFolders(folder)
    .reverse()
    .reduce((rules, each) => rules.forSubfolder(each), rulesOf([]));
  // If the user names an ignored folder, it is included.
  return (parentRules.ignores(folder, true) ? rulesOf([]) : parentRules).forSubfolder(folder);
}

export const noRules: IgnoreRules = { forSubfolder: () => noRules, ignores: () => false };

interface RuleFile {
  folder: string;
  matcher: Ignore;
}

/** Combines the rules of several .gitignore files. The nearest file with a matching rule decides. */
function rulesOf(nearestFirst: readonly RuleFile[]): IgnoreRules {
  return {
    forSubfolder(folder) {
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
    // The file is missing, too large or not a regular file.
    return undefined;
  }
}

/** Returns the parents of the folder, up to the repository root. Empty outside a repository. */
function parentFolders(folder: string): string[] {
  const parents: string[] = [];
  for (let current = folder; !existsSync(join(current, '.git')); ) {
    const parent = dirname(current);
    if (parent === current) return [];
    parents.push(parent);
    current = parent;
  }
  return parents;
}
