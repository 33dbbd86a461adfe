import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { openConfiguredStorage } from '../app/open-storage.ts';
import { loadRoleConfig } from '../app/program.ts';
import { contextRole } from '../app/roles.ts';
import { CarrelError } from '../base/errors.ts';
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
      throw fileFault(error);
    }
  });
}

/** `carrel import <file>`: adds the entries of a file in any known format. */
export async function importCommand(line: CommandLine): Promise<void> {
  const [file] = line.words;
  if (file === undefined) throw new CarrelError('invalid_usage', 'carrel import needs a file: carrel import <file>.');
  await withStorage(line, async ({ entries }) => {
    try {
      const count = await importEntries(entries, file, new Date().toISOString());
      process.stdout.write(`${count} entries imported\n`);
    } catch (error) {
      throw fileFault(error);
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

function fileFault(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT')
    return new CarrelError('invalid_usage', 'There is no such file. Check its path.', { cause: error });
  if (code === 'EEXIST')
    return new CarrelError('invalid_usage', 'The file exists already. Choose another name.', { cause: error });
  if (code === 'EACCES' || code === 'EISDIR') {
    return new CarrelError('invalid_usage', 'The file cannot be read or written. Check its permissions.', {
      cause: error,
    });
  }
  return error;
}
