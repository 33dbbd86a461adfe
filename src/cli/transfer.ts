import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openConfiguredStorage } from '../app/configured-storage.ts';
import { loadRoleConfig } from '../app/program.ts';
import { contextRole } from '../app/roles.ts';
import { moveFile, replaceFile, writeNewFile } from '../base/durable-files.ts';
import { CarrelError, isCarrelError, systemCode } from '../base/errors.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { removeLeftovers, temporaryPath } from '../base/temporary-files.ts';
import type { Storage } from '../storage/storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { type ImportReport, importEntries } from '../toolsets/context/transfer/import-entries.ts';
import { exportLines } from '../toolsets/context/transfer/line-file.ts';
import type { CommandLine } from './command-line.ts';
import { logOf } from './debug-log.ts';
import { fileError } from './file-error.ts';
import { printableLine } from './terminal/printable.ts';
import { usageError } from './usage-error.ts';

const chunkChars = 65_536;

/** `carrel export [file]`: writes the memory entries as JSONL, to standard output unless a file is named. */
export async function exportCommand(line: CommandLine): Promise<void> {
  const [file] = line.args;
  await withStorage(line, async ({ entries }) => {
    const lines = exportLines(entries, new AbortController().signal);
    try {
      if (file === undefined) await pipeline(lines, process.stdout, { end: false });
      else await writeExport(file, lines);
    } catch (error) {
      // The reader closed the pipe.
      if (file === undefined && systemCode(error) === 'EPIPE') return;
      throw transferError(error, file);
    }
  });
}

/** Writes the file, which appears only when it is complete. Only its owner can read it. */
async function writeExport(file: string, lines: AsyncIterable<string>): Promise<void> {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
    throw usageError(`${file} already exists. Choose another name.`);
  }
  removeLeftovers(file);
  const temporary = temporaryPath(file);
  // A process in another container may have the same process id, and so the same temporary name.
  await rm(temporary, { force: true });
  try {
    await writeNewFile(temporary, bytesOf(lines));
    await moveFile(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** `carrel import <file>`: adds the entries of a file in any supported format. Exits with 65 if some were skipped. */
export async function importCommand(line: CommandLine): Promise<void> {
  const [file = ''] = line.args;
  await withStorage(line, async ({ entries }) => {
    try {
      const report = await importEntries(entries, file, new Date().toISOString());
      const skippedFile = await writeSkipped(file, report);
      if (skippedFile !== undefined) process.exitCode = exitCodes.skipped;
      if (line.flags['json'] === true) {
        process.stdout.write(`${JSON.stringify({ ...asJson(report), skippedFile }, null, 2)}\n`);
      } else printReport(report, skippedFile);
    } catch (error) {
      throw transferError(error, file);
    }
  });
}

/** Writes the skipped entries as JSON lines to a file next to the imported one. Undefined if none were skipped. */
async function writeSkipped(file: string, { skipped }: ImportReport): Promise<string | undefined> {
  if (skipped.length === 0) return undefined;
  const path = `${resolve(file)}.skipped.jsonl`;
  await replaceFile(path, Buffer.from(skipped.map((each) => `${JSON.stringify(each)}\n`).join('')));
  return path;
}

/** Max skipped entries to print. The file of skipped entries lists them all. */
const printedMax = 20;

function printReport(
  { added, present, skipped, newIds, rewritten }: ImportReport,
  skippedFile: string | undefined,
): void {
  const messages = skipped
    .slice(0, printedMax)
    .map(({ place, reason }) => printableLine(`Skipped ${place}: ${reason}`));
  if (skippedFile !== undefined) messages.push(`All skipped entries are listed in ${printableLine(skippedFile)}.`);
  for (const message of messages) process.stderr.write(`carrel: ${message}\n`);
  const renumbered = newIds.size === 0 ? '' : `; ${newIds.size} got new ids, ${rewritten} had references updated`;
  process.stdout.write(`${added} entries added, ${present} already present, ${skipped.length} skipped${renumbered}\n`);
}

function asJson({ newIds, ...report }: ImportReport) {
  return { ...report, newIds: Object.fromEntries(newIds) };
}

/** Joins lines, so that fewer writes are needed. */
async function* bytesOf(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let text = '';
  for await (const line of lines) {
    text += line;
    if (text.length < chunkChars) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

async function withStorage(line: CommandLine, work: (storage: Storage) => Promise<void>): Promise<void> {
  const config = loadRoleConfig(contextRole, line.flags);
  const storage = await openConfiguredStorage(config.of(storageSlice), config.dataDir, logOf(line));
  try {
    await work(storage);
  } finally {
    await storage.close();
  }
}

/** Adds the file's name to an error. System messages omit it or name another file. */
function transferError(error: unknown, file = 'The standard output'): unknown {
  if (isCarrelError(error) && error.code === 'invalid_import') {
    return new CarrelError(error.code, `${file}: ${error.message}`, { cause: error, data: error.data });
  }
  if (systemCode(error) === 'ENOENT') return usageError(`${file} does not exist. Check its path.`, { cause: error });
  return fileError(error, file);
}
