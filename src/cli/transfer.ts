import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { openConfiguredStorage } from '../app/open-storage.ts';
import { loadRoleConfig } from '../app/program.ts';
import { contextRole } from '../app/roles.ts';
import { CarrelError, isCarrelError } from '../base/errors.ts';
import type { Storage } from '../storage/contracts/storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { exportLines } from '../toolsets/context/transfer/entry-lines.ts';
import { importEntries } from '../toolsets/context/transfer/import-entries.ts';
import type { CommandLine } from './command-line.ts';

/** `carrel export [file]`: the context entries as JSONL, to standard output unless a file is named. */
export async function exportCommand(line: CommandLine): Promise<void> {
  const [file] = line.words;
  await withStorage(line, async ({ entries }) => {
    // Only the owner may read a memory. An existing file is not overwritten.
    const output = file === undefined ? process.stdout : createWriteStream(file, { flags: 'wx', mode: 0o600 });
    const lines = exportLines(entries, new AbortController().signal);
    try {
      await pipeline(lines, output, { end: file !== undefined });
    } catch (error) {
      throw fileFault(error, file);
    }
  });
}

/** `carrel import <file>`: adds the entries of a file in any known format. */
export async function importCommand(line: CommandLine): Promise<void> {
  const [file = ''] = line.words;
  await withStorage(line, async ({ entries }) => {
    try {
      const count = await importEntries(entries, file, new Date().toISOString());
      process.stdout.write(`${count} entries imported\n`);
    } catch (error) {
      throw fileFault(error, file);
    }
  });
}

async function withStorage(line: CommandLine, work: (storage: Storage) => Promise<void>): Promise<void> {
  const config = loadRoleConfig(contextRole, line.flags);
  const storage = await openConfiguredStorage(config.of(storageSlice), config.dataDir);
  try {
    await work(storage);
  } finally {
    await storage.close();
  }
}

/** The system's own messages name no file, or the wrong one. */
function fileFault(error: unknown, file = 'The standard output'): unknown {
  if (isCarrelError(error) && error.code === 'invalid_import') {
    return new CarrelError(error.code, `${file}: ${error.message}`, { cause: error, data: error.data });
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT')
    return new CarrelError('invalid_usage', `${file} does not exist. Check its path.`, { cause: error });
  if (code === 'EEXIST')
    return new CarrelError('invalid_usage', `${file} exists already. Name another.`, { cause: error });
  if (code === 'EACCES' || code === 'EISDIR') {
    return new CarrelError('invalid_usage', `${file} cannot be read or written. Check its permissions.`, {
      cause: error,
    });
  }
  return error;
}
