import { join, resolve } from 'node:path';
import { storageLocation } from '../app/configured-storage.ts';
import { loadRoleConfig } from '../app/program.ts';
import { contextRole } from '../app/roles.ts';
import { type CarrelError, isCarrelError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { type BackupLocation, type BackupReport, backUp, restore } from '../storage/backup/backup.ts';
import { recordBackup } from '../storage/backup/last-backup.ts';
import type { RestoreReport } from '../storage/backup/transfer.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import type { CommandLine } from './command-line.ts';
import { fileError } from './file-error.ts';
import { createProgressLine } from './progress-line.ts';
import { confirm } from './terminal/prompt.ts';

/** `carrel backup <file>`: writes a consistent snapshot of all data while servers keep running. */
export async function backupCommand(line: CommandLine): Promise<void> {
  const { dataDir } = loadRoleConfig(contextRole, line.flags);
  const operation: typeof backUp = async (location, file, options) => {
    const report = await backUp(location, file, options);
    // The console shows the last backup. If the record can't be written, the backup is still good.
    await recordBackup(dataDir, { at: report.createdAt, file, bytes: report.bytes }).catch(() => {});
    return report;
  };
  await runOperation(line, operation, 'backed up to');
}

/** `carrel restore <file>`: replaces all data with that of a backup. */
export async function restoreCommand(line: CommandLine): Promise<void> {
  try {
    await runOperation(line, restore, 'restored from');
  } catch (error) {
    if (!isCarrelError(error) || error.code !== 'storage_not_empty' || !(await confirmReplacement(error))) throw error;
    await runOperation({ ...line, flags: { ...line.flags, force: true } }, restore, 'restored from');
  }
}

/** Asks the user on a terminal. Otherwise returns false, and --force is required. */
async function confirmReplacement({ data: { rows } }: CarrelError): Promise<boolean> {
  if (!isObject(rows)) return false;
  return (await confirm(`The database contains ${describeRows(rows)}. Replace them all?`)) === true;
}

/** Tables whose rows users know by name. If all of them are empty, the rows of all tables are counted. */
const namedTables: readonly [table: string, one: string, many: string][] = [
  ['kb_documents', 'document', 'documents'],
  ['notes', 'note', 'notes'],
  ['context_entries', 'memory', 'memories'],
];

function describeRows(rows: Readonly<Record<string, unknown>>): string {
  const counts = namedTables.flatMap(([table, one, many]) => {
    const count = Number(rows[table] ?? 0);
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  if (counts.length > 0) return counts.join(', ');
  return `${Object.values(rows).reduce<number>((sum, each) => sum + Number(each), 0)} rows`;
}

async function runOperation(line: CommandLine, operation: typeof backUp, action: string): Promise<void> {
  const [name = ''] = line.args;
  const file = resolve(name);
  const location = locationOf(line);
  const progress = createProgressLine(process.stderr);
  try {
    const report = await operation(location, file, {
      force: line.flags['force'] === true,
      onProgress: (phase, count, total) => progress.show(total > 0 ? `${phase} ${percent(count, total)}` : phase),
    });
    progress.clear();
    for (const warning of report.warnings) process.stderr.write(`carrel: ${warning}\n`);
    process.stdout.write(line.flags['json'] === true ? asJson(file, report) : asText(file, report, action));
  } catch (error) {
    progress.clear();
    throw fileError(error, file);
  }
}

function locationOf(line: CommandLine): BackupLocation {
  const config = loadRoleConfig(contextRole, line.flags);
  const storage = storageLocation(config.of(storageSlice), config.dataDir);
  const documentsDir = storage.backend === 'sqlite' ? storage.documentsDir : undefined;
  return { storage, originals: documentsDir ?? join(config.dataDir, 'documents') };
}

function asJson(file: string, { tables, ...report }: BackupReport): string {
  const rows = Object.fromEntries(tables.map((table) => [table.name, table.rows]));
  return `${JSON.stringify({ file, ...report, rows }, null, 2)}\n`;
}

function asText(file: string, report: BackupReport, action: string): string {
  const rows = report.tables.reduce((sum, table) => sum + table.rows, 0);
  if (report.moved !== undefined) return movedText(file, report, report.moved);
  const files = report.files > 0 ? `, ${report.files} files` : '';
  return `${action} ${file}: ${rows} rows in ${report.tables.length} tables${files}, schema ${report.schema}, ${report.bytes} bytes\n`;
}

const backendNames = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

/** Describes a move between databases. Counts only copied tables; derived ones, such as indexes, are rebuilt. */
function movedText(file: string, { backend, bytes }: BackupReport, { tables, originals }: RestoreReport): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const vectors = tables.reduce((sum, { name, rows: count }) => sum + (name.endsWith('_vectors') ? count : 0), 0);
  const to = backend === 'sqlite' ? 'postgres' : 'sqlite';
  return (
    `moved from ${backendNames[backend]} to ${backendNames[to]}, from ${file}: ${rows} rows in ${tables.length} tables, ` +
    `including ${vectors} vectors, ${originals} original files, ${bytes} bytes\n` +
    'verified: row counts and SHA-256 match for every table and original file\n'
  );
}

function percent(count: number, total: number): string {
  return `${Math.min(100, Math.floor((100 * count) / total))} %`;
}
