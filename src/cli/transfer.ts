import { pipeline } from 'node:stream/promises';
import { openConfiguredStorage } from '../app/open-storage.ts';
import { loadRoleConfig } from '../app/program.ts';
import { contextRole } from '../app/roles.ts';
import { writeNewFile } from '../base/durable-files.ts';
import { CarrelError } from '../base/errors.ts';
import type { Storage } from '../storage/contracts/storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { exportLines } from '../toolsets/context/transfer/entry-lines.ts';
import { importEntries } from '../toolsets/context/transfer/import-entries.ts';
import type { CommandLine } from './command-line.ts';

const writtenUnits = 65_536;

/** `carrel export [file]`: the context entries as JSONL, to standard output unless a file is named. */
export async function exportCommand(line: CommandLine): Promise<void> {
  const [file] = line.words;
  await withStorage(line, async ({ entries }) => {
    const lines = exportLines(entries, new AbortController().signal);
    try {
      if (file === undefined) await pipeline(lines, process.stdout, { end: false });
      // A file that is there already is not overwritten.
      else await writeNewFile(file, bytesOf(lines));
    } catch (error) {
      throw fileFault(error);
    }
  });
}

/** `carrel import <file>`: adds the entries of a file of any kind that is known. */
export async function importCommand(line: CommandLine): Promise<void> {
  const [file] = line.words;
  if (file === undefined) throw new CarrelError('invalid_usage', 'carrel import needs the file to read.');
  await withStorage(line, async ({ entries }) => {
    try {
      const count = await importEntries(entries, file, new Date().toISOString());
      process.stdout.write(`${count} entries imported\n`);
    } catch (error) {
      throw fileFault(error);
    }
  });
}

/** Many lines at once, so that each write is worth its call. */
async function* bytesOf(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let text = '';
  for await (const line of lines) {
    text += line;
    if (text.length < writtenUnits) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
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
  if (code === 'ENOENT') return new CarrelError('invalid_usage', 'There is no such file.', { cause: error });
  if (code === 'EEXIST')
    return new CarrelError('invalid_usage', 'The file exists already. Name another.', { cause: error });
  if (code === 'EACCES' || code === 'EISDIR') {
    return new CarrelError('invalid_usage', 'The file cannot be read or written.', { cause: error });
  }
  return error;
}
