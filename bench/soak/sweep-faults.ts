/**
 * Runs each write once for every system call that it makes on its files, with that call failing: `LD_PRELOAD=… node
 * sweep-faults.ts <folder> <points>`. Ends after `points` such runs. An acknowledged write must be stored, a refused one must
 * report one of our errors, and stored data must match its indexes. Prints a line of JSON; exits with 1 on a fault.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { diskError, replaceFile } from '../../src/base/durable-files.ts';
import { isCarrelError } from '../../src/base/errors.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createFaultControl } from './fault-control.ts';

const [, , folder = '', points = '5000'] = process.argv;
const pointsMax = Number(points);
const control = createFaultControl(process.env['CARREL_FAULT_CONTROL'] ?? '');
mkdirSync(folder, { recursive: true });
const path = join(folder, 'carrel.db');

interface Write {
  readonly name: string;
  readonly isSlow?: boolean;
  /** Performs the write. Returns a function that checks later whether it is stored. */
  run(storage: Storage, id: string): Promise<(storage: Storage) => Promise<boolean>>;
}

const bytes = (text: string) =>
  (async function* () {
    yield Buffer.from(text);
  })();
const entry = (text: string) =>
  ({ threadId: 't', source: 'user', text, metadata: {}, summary: undefined, tags: ['a'], images: [] }) as const;

const writes: readonly Write[] = [
  {
    name: 'note',
    async run(storage, id) {
      const note = await storage.notes.save({ title: id, content: `words of ${id}`, tags: ['t'], sourceUrls: [] });
      return async (later) => (await later.notes.get(note.id)) !== undefined;
    },
  },
  {
    name: 'entries',
    async run(storage, id) {
      const entries = [0, 1, 2].map((at) => entry(`${id} ${at} ${'text '.repeat(300)}`));
      const ids = (await storage.entries.store({ entries })).map((stored) => stored.id);
      return async (later) => (await later.entries.get({ ids, images: false })).length === 3;
    },
  },
  {
    name: 'remove',
    async run(storage, id) {
      const [stored] = await storage.entries.store({ entries: [entry(id)] });
      const ids = stored === undefined ? [] : [stored.id];
      await storage.entries.remove({ ids, dryRun: false });
      return async (later) => (await later.entries.get({ ids, images: false })).length === 0;
    },
  },
  {
    name: 'document',
    async run(storage, id) {
      const text = `the bytes of ${id}`;
      const staged = await storage.originals.stage(bytes(text), { bytesMax: 1_000_000 });
      await storage.ingestion.accept({
        filename: `${id}.txt`,
        title: id,
        docType: undefined,
        sourcePath: `/${id}`,
        tags: [],
        contentType: 'text/plain',
        content: { staged },
      });
      const hash = createHash('sha256').update(text).digest('hex');
      return async (later) => (await later.originals.open(hash)) !== undefined;
    },
  },
  {
    name: 'start',
    isSlow: true,
    async run(_storage, id) {
      const another = await createSqliteStorage({ path });
      try {
        const note = await another.notes.save({ title: id, content: 'words', tags: [], sourceUrls: [] });
        return async (later) => (await later.notes.get(note.id)) !== undefined;
      } finally {
        await another.close();
      }
    },
  },
  {
    name: 'new database',
    isSlow: true,
    async run(_storage, id) {
      const another = await createSqliteStorage({ path: join(folder, id, 'carrel.db') });
      let isStored = false;
      try {
        const note = await another.notes.save({ title: id, content: 'words', tags: [], sourceUrls: [] });
        isStored = (await another.notes.get(note.id)) !== undefined;
      } finally {
        await another.close();
        removeFolder(join(folder, id));
      }
      return async () => isStored;
    },
  },
  {
    name: 'file',
    async run(_storage, id) {
      const file = join(folder, `file-${id.slice(0, 2)}`);
      // Converts the error as the callers of `replaceFile` do.
      await replaceFile(file, Buffer.from(id)).catch((error) => {
        throw diskError(error);
      });
      return async () => readFileSync(file, 'utf8') === id;
    },
  },
];

/** Removes a folder if possible. The injected error may affect this call, too. */
function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The caller of this script removes the parent folder.
  }
}

/** Error numbers of Linux: EIO, ENOSPC, EDQUOT, EMFILE, EACCES. */
const errors = [5, 28, 122, 24, 13];

const callsMax = 1000;
const slowEvery = 20;
const report = { points: 0, acknowledged: 0, refused: {} as Record<string, number>, faults: [] as string[] };
const acknowledged: { where: string; isStored: (storage: Storage) => Promise<boolean> }[] = [];
let storage = await open();
for (const write of writes) await write.run(storage, randomUUID());

for (let round = 0; report.points < pointsMax && report.faults.length < 20; round += 1) {
  const error = errors[round % errors.length] ?? 5;
  const sticky = Math.floor(round / errors.length) % 2 === 1;
  for (const write of writes) {
    // A slow write includes a start, which takes a hundred times as long as a plain write.
    if (write.isSlow && round % slowEvery !== slowEvery - 1) continue;
    await sweep(write, error, sticky);
    process.stderr.write(`${write.name}, error ${error}${sticky ? ', sticky' : ''}: ${report.points} points\n`);
  }
  await reopen();
}
await storage.close();
control.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(report.faults.length > 0 ? 1 : 0);

/** Opens the storage with a long timeout, so that a busy machine causes no failures. */
function open(): Promise<Storage> {
  return createSqliteStorage({ path, queryTimeoutMs: 600_000 });
}

/** Like SQLite's own tests, fails the first call, then the second, and so on until the write completes without a failure. */
async function sweep(write: Write, error: number, sticky: boolean): Promise<void> {
  for (let at = 1, failed = 1; failed > 0 && report.points < pointsMax && at < callsMax; at += 1) {
    const where = `${write.name}, call ${at}, error ${error}${sticky ? ' and all later' : ''}`;
    control.set({ at, error, sticky });
    const outcome = await write.run(storage, randomUUID()).then(
      (isStored) => ({ isStored }),
      (thrown: unknown) => ({ thrown }),
    );
    failed = control.state().failed;
    control.set({ at: 0 });
    if (failed > 0) report.points += 1;
    if ('thrown' in outcome) countRefusal(outcome.thrown, where);
    else {
      report.acknowledged += 1;
      if (!(await outcome.isStored(storage))) report.faults.push(`${where}: acknowledged but not stored`);
      acknowledged.push({ where, isStored: outcome.isStored });
    }
  }
}

function countRefusal(thrown: unknown, where: string): void {
  const code = isCarrelError(thrown) ? thrown.code : `unclear: ${String(thrown).slice(0, 200)}`;
  report.refused[code] = (report.refused[code] ?? 0) + 1;
  if (!isCarrelError(thrown)) report.faults.push(`${where}: ${code}`);
}

/** Checks that the storage still works without a restart, and that acknowledged writes survive one. */
async function reopen(): Promise<void> {
  await storage.notes.save({ title: 'still', content: 'writing', tags: [], sourceUrls: [] });
  await storage.close();
  storage = await open();
  report.faults.push(...(await storage.check()));
  for (const { where, isStored } of acknowledged.splice(0)) {
    if (!where.startsWith('file') && !(await isStored(storage)))
      report.faults.push(`${where}: missing after a restart`);
  }
}
