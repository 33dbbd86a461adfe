import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { openConfiguredStorage } from '../app/open-storage.ts';
import { loadRoleConfig } from '../app/program.ts';
import { contextRole } from '../app/roles.ts';
import { diskError, moveFile, writeNewFile } from '../base/durable-files.ts';
import { CarrelError, isCarrelError, systemCode } from '../base/errors.ts';
import { removeLeftovers, temporaryPath } from '../storage/backup/own-files.ts';
import type { Storage } from '../storage/contracts/storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { exportLines } from '../toolsets/context/transfer/entry-lines.ts';
import { type ImportReport, importEntries } from '../toolsets/context/transfer/import-entries.ts';
import type { CommandLine } from './command-line.ts';
import { printableLine } from './terminal/printable.ts';

const writtenUnits = 65_536;

/** `carrel export [file]`: the context entries as JSONL, to standard output unless a file is named. */
export async function exportCommand(line: CommandLine): Promise<void> {
  const [file] = line.words;
  await withStorage(line, async ({ entries }) => {
    const lines = exportLines(entries, new AbortController().signal);
    try {
      if (file === undefined) await pipeline(lines, process.stdout, { end: false });
      else await writeExport(file, lines);
    } catch (error) {
      // A reader of the standard output that has seen enough.
      if (file === undefined && systemCode(error) === 'EPIPE') return;
      throw fileFault(error, file);
    }
  });
}

/** The file appears only when it is complete. Only the owner may read a memory. */
async function writeExport(file: string, lines: AsyncIterable<string>): Promise<void> {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
    throw new CarrelError('invalid_usage', `${file} exists already. Name another.`);
  }
  removeLeftovers(file);
  const unfinished = temporaryPath(file);
  // In a container every process may have the same number.
  await rm(unfinished, { force: true });
  try {
    await writeNewFile(unfinished, bytesOf(lines));
    await moveFile(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** `carrel import <file>`: adds the entries of a file in any known format. What is skipped is named on standard error. */
export async function importCommand(line: CommandLine): Promise<void> {
  const [file = ''] = line.words;
  await withStorage(line, async ({ entries }) => {
    try {
      const report = await importEntries(entries, file, new Date().toISOString());
      if (line.flags['json'] === true) process.stdout.write(`${JSON.stringify(asJson(report), null, 2)}\n`);
      else tell(report);
    } catch (error) {
      throw fileFault(error, file);
    }
  });
}

function tell({ added, present, skipped, newIds, rewritten }: ImportReport): void {
  for (const { place, reason } of skipped)
    process.stderr.write(`carrel: ${printableLine(`${place} is skipped: ${reason}`)}\n`);
  const renumbered =
    newIds.size === 0 ? '' : `; ${newIds.size} have other ids here, ${rewritten} had references to such changed`;
  process.stdout.write(`${added} entries added, ${present} already present, ${skipped.length} skipped${renumbered}\n`);
}

function asJson({ newIds, ...rest }: ImportReport) {
  return { ...rest, newIds: Object.fromEntries(newIds) };
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

/** The system's own messages name no file, or the wrong one. */
function fileFault(error: unknown, file = 'The standard output'): unknown {
  if (isCarrelError(error) && error.code === 'invalid_import') {
    return new CarrelError(error.code, `${file}: ${error.message}`, { cause: error, data: error.data });
  }
  const code = systemCode(error);
  if (code === 'ENOENT')
    return new CarrelError('invalid_usage', `${file} does not exist. Check its path.`, { cause: error });
  if (code === 'EISDIR') return new CarrelError('invalid_usage', `${file} is a folder. Name a file.`, { cause: error });
  if (code === 'EACCES') {
    return new CarrelError('invalid_usage', `${file} cannot be read or written. Check its permissions.`, {
      cause: error,
    });
  }
  return diskError(error);
}
