import { chmodSync } from 'node:fs';
import { CarrelError } from '../../base/errors.ts';
import type { Client, ClientFile } from './clients.ts';
import { backUpFile, type ConfigFile, readConfigFile, replaceFile } from './config-file.ts';
import { jsonFormat } from './json-format.ts';
import type { Machine } from './machine.ts';
import {
  type ConfigFormat,
  checkOutcome,
  type Entry,
  type EntryPath,
  findEntry,
  isOurs,
  mergeEntry,
  sameData,
} from './server-entry.ts';
import { FileFault } from './text-edits.ts';
import { tomlFormat } from './toml-format.ts';
import { yamlFormat } from './yaml-format.ts';

/** The name under which clients list this server. */
const serverName = 'carrel';

const formats: Readonly<Record<Client['format'], ConfigFormat>> = {
  json: jsonFormat,
  toml: tomlFormat,
  yaml: yamlFormat,
};

/** A planned change that has not been written yet. */
export interface PlannedEdit {
  readonly path: string;
  readonly change: 'add' | 'update' | 'remove' | 'none';
  /** True if other users lose read access, because the file gets a token. */
  readonly restrictsAccess: boolean;
  /** Writes the change and returns the path of the backup, if there was a file. */
  apply(now: Date): string | undefined;
}

/** Returns the client's files on this machine: those with `evidence` or, if there are none, the default file. */
export function findClientFiles(client: Client, machine: Machine): { files: readonly ClientFile[]; isFound: boolean } {
  const all = client.files(machine);
  const found = all.filter(({ evidence }) => evidence.some((path) => machine.exists(path)));
  return found.length > 0 ? { files: found, isFound: true } : { files: all.slice(0, 1), isFound: false };
}

/** Plans to add or update the entry, or to remove it if `newEntry` is undefined. */
export async function planEdit(
  client: Client,
  path: string,
  newEntry: Entry | undefined,
  hasToken = false,
): Promise<PlannedEdit> {
  const format = formats[client.format];
  const entryPath: EntryPath = { servers: client.servers, name: serverName, initialText: client.initialText ?? '' };
  const found = readConfigFile(path);
  // Only the owner may read a file with a token.
  const file = hasToken ? { ...found, mode: found.mode & ownerBits } : found;
  const restrictsAccess = file.mode !== found.mode;
  try {
    const before = await format.read(file.text);
    const previous = findEntry(before, entryPath);
    if (previous !== undefined && !isOurs(previous)) throw nameTakenError(path);
    const entry = newEntry && mergeEntry(previous, newEntry);
    const unchanged: PlannedEdit = {
      path,
      change: 'none',
      restrictsAccess,
      apply: () => restrictMode(file, restrictsAccess),
    };
    if (sameData(previous, entry)) return unchanged;
    const text =
      entry === undefined ? await format.remove(file.text, entryPath) : await format.set(file.text, entryPath, entry);
    checkOutcome(before, await format.read(text), entryPath, entry);
    const change = entry === undefined ? 'remove' : previous === undefined ? 'add' : 'update';
    return { path, change, restrictsAccess, apply: (now) => write(file, text, now) };
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    const { line, column, message } = error;
    throw new CarrelError(
      'invalid_config',
      `${path}: line ${line}, column ${column}: ${message}. Nothing was changed.`,
    );
  }
}

const ownerBits = 0o700;

function restrictMode({ target, mode }: ConfigFile, restrictsAccess: boolean): undefined {
  if (restrictsAccess) chmodSync(target, mode);
}

function write(file: ConfigFile, text: string, now: Date): string | undefined {
  const backup = file.exists ? backUpFile(file, now) : undefined;
  replaceFile(file, text);
  return backup;
}

/** Returns what `--print` shows: a file that contains only our entry. */
export async function snippetOf(client: Client, entry: Entry): Promise<string> {
  const entryPath: EntryPath = { servers: client.servers, name: serverName, initialText: '' };
  return formats[client.format].set('', entryPath, entry);
}

function nameTakenError(path: string): CarrelError {
  return new CarrelError(
    'invalid_config',
    `${path} already has another server named ${serverName}. Rename or remove that one first. Nothing was changed.`,
  );
}
