import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { createGlob } from '../../base/glob.ts';
import { usageError } from '../usage-error.ts';
import { type IgnoreRules, noRules, rulesFor } from './git-ignore.ts';

export interface FoundFile {
  /** The absolute path. */
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
  /** Inode and device reveal a replaced file. */
  readonly inode: number;
  readonly device: number;
}

export interface FileSelection {
  /** Path patterns. If there are any, a file must match at least one. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** True includes files that .gitignore excludes. */
  readonly includesIgnored?: boolean;
  /** True for the program's own data, which is skipped. */
  readonly isOwnData?: (path: string) => boolean;
}

/** Skipped files, by reason. */
export interface SkipCounts {
  hidden: number;
  packages: number;
  links: number;
  empty: number;
  special: number;
  excluded: number;
  ignored: number;
}

export interface FoundFiles {
  readonly files: FoundFile[];
  readonly skipped: SkipCounts;
  /** Files and folders that could not be read. They must not be treated as deleted. */
  readonly unreadable: string[];
}

/** Folders of installed packages, which are skipped. Hidden folders such as .git are skipped anyway. */
const packageFolders: readonly string[] = ['node_modules', '__pycache__'];

/**
 * Lists the named files and everything below the named folders, sorted by name. Skips hidden names, installed
 * packages and files that .gitignore excludes. Symlinks are followed only if named explicitly. A link inside a folder
 * usually points to a file that is found anyway.
 */
export function findFiles(paths: readonly string[], selection: FileSelection): FoundFiles {
  const found: FoundFiles = {
    files: [],
    skipped: { hidden: 0, packages: 0, links: 0, empty: 0, special: 0, excluded: 0, ignored: 0 },
    unreadable: [],
  };
  const { isOwnData = () => false } = selection;
  const isSelected = createSelection(selection);
  for (const path of paths) {
    const root = resolveRoot(path);
    const rules = selection.includesIgnored === true ? noRules : rulesFor(root);
    if (statSync(root).isDirectory()) walk({ folder: root, root, rules, isOwnData }, isSelected, found);
    else if (isOwnData(root)) found.skipped.excluded += 1;
    else addFile(root, found);
  }
  const files = new Map(found.files.map((file) => [file.path, file]));
  return { ...found, files: [...files.values()] };
}

/** Resolves symlinks in a path that the user named. */
export function resolveRoot(path: string): string {
  try {
    return realpathSync(resolve(path));
  } catch (error) {
    throw usageError(`${path} does not exist or cannot be read.`, { cause: error });
  }
}

interface WalkContext {
  readonly folder: string;
  /** The folder that the user named. */
  readonly root: string;
  readonly rules: IgnoreRules;
  readonly isOwnData: (path: string) => boolean;
}

function walk(context: WalkContext, isSelected: (path: string) => boolean, found: FoundFiles): void {
  const { folder, root, rules, isOwnData } = context;
  const { skipped } = found;
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    found.unreadable.push(folder);
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (isHidden(entry.name)) skipped.hidden += 1;
    else if (entry.isSymbolicLink()) skipped.links += 1;
    else if (packageFolders.includes(entry.name) && entry.isDirectory()) skipped.packages += 1;
    else if (rules.ignores(path, entry.isDirectory())) skipped.ignored += 1;
    else if (isOwnData(path)) skipped.excluded += 1;
    else if (entry.isDirectory())
      walk({ ...context, folder: path, rules: rules.forSubfolder(path) }, isSelected, found);
    else if (!isSelected(relative(root, path).replaceAll(sep, '/'))) skipped.excluded += 1;
    else if (entry.isFile()) addFile(path, found);
    else skipped.special += 1;
  }
}

/** True for hidden files and for the backup copies of editors. */
function isHidden(name: string): boolean {
  return name.startsWith('.') || name.endsWith('~');
}

function addFile(path: string, { files, skipped, unreadable }: FoundFiles): void {
  try {
    const stats = lstatSync(path);
    const { size, mtimeMs: modifiedMs, ino: inode, dev: device } = stats;
    if (!stats.isFile()) skipped.special += 1;
    else if (size === 0) skipped.empty += 1;
    else files.push({ path, size, modifiedMs, inode, device });
  } catch {
    unreadable.push(path);
  }
}

function createSelection({ include, exclude }: FileSelection): (path: string) => boolean {
  const [included, excluded] = [include.map(createGlob), exclude.map(createGlob)];
  return (path) =>
    (included.length === 0 || included.some((matches) => matches(path))) && !excluded.some((matches) => matches(path));
}
