import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type BackupLocation, backUp, restore } from '../../src/storage/backup/backup.ts';
import { openStorage, type StorageLocation } from '../../src/storage/open-storage.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { onBothBackends, temporaryFolder } from '../support/backends.ts';
import { carrelProgram, cleanEnv } from '../support/child-program.ts';
import { passageWriter } from '../support/passages.ts';
import { size } from '../support/sizes.ts';

const kills = size({ quick: 1, full: 2, variable: 'CARREL_RESTORE_KILLS' });
const passages = size({ quick: 200, full: 3000 });

onBothBackends('moving to the other database and kill -9', (sqlite, postgres) => {
  const folder = temporaryFolder();
  for (const [from, to] of [
    [sqlite, postgres],
    [postgres, sqlite],
  ] as const) {
    test(`${from.name} to ${to.name}: ${kills} killed restores leave an empty or a complete database, and the next one works`, async () => {
      const [source, target] = [await from.newLocation(), await to.newLocation()];
      await fill(source, passages);
      const file = join(folder, `${from.name}.tar`);
      await backUp(placeOf(source), file, { force: false, onProgress: () => {} });
      const start = performance.now();
      const whole = spawnSync(process.execPath, [carrelProgram, 'restore', file], {
        env: envOf(target),
        encoding: 'utf8',
      });
      assert.equal(whole.status, 0, whole.stderr);
      assert.match(whole.stdout, /^moved from (?:SQLite to PostgreSQL|PostgreSQL to SQLite), .*\nverified: row counts/);
      const wholeMs = performance.now() - start;
      for (let count = 0; count < kills; count += 1) {
        const fresh = await to.newLocation();
        const child = spawn(process.execPath, [carrelProgram, 'restore', file], { env: envOf(fresh), stdio: 'ignore' });
        const exited = once(child, 'exit');
        await Promise.race([delay((wholeMs * (count + Math.random())) / kills), exited]);
        child.kill('SIGKILL');
        await exited;
        const found = await passagesIn(fresh);
        assert.ok(found === 0 || found === passages, String(found));
        await restore(placeOf(fresh), file, { force: true, onProgress: () => {} });
        assert.equal(await passagesIn(fresh), passages);
      }
      assert.deepEqual(leftovers(dataOf(target)), []);
      if (target.backend === 'sqlite') assert.deepEqual(leftovers(dirname(target.path)), []);
    });
  }

  function dataOf(location: StorageLocation): string {
    const data = location.backend === 'sqlite' ? `${dirname(location.path)}/data` : join(folder, 'postgres');
    mkdirSync(data, { recursive: true });
    return data;
  }

  function placeOf(location: StorageLocation): BackupLocation {
    return { storage: location, originals: join(dataOf(location), 'documents') };
  }

  function envOf(location: StorageLocation): NodeJS.ProcessEnv {
    const where: Record<string, string> =
      location.backend === 'sqlite'
        ? { DB_PATH: location.path }
        : { STORAGE_BACKEND: 'postgresql', POSTGRESQL_CONNECTION_STRING: location.url };
    return cleanEnv(dataOf(location), where);
  }
});

function leftovers(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.includes('.tmp'));
}

async function fill(location: StorageLocation, count: number): Promise<void> {
  const storage = await openStorage(location);
  await passageWriter(storage).replace([
    {
      parent: 'lanterns',
      passages: Array.from({ length: count }, (_, index) => ({
        ...{ id: `p-${index}`, title: '', headings: [], labels: ['l'] },
        body: `lantern ${index} ${'text of some length '.repeat(20)}`,
      })),
    },
  ]);
  await storage.close();
}

async function passagesIn(location: StorageLocation): Promise<number> {
  const storage = await openStorage(location);
  try {
    assert.deepEqual(await storage.check(), []);
    return (await storage.passages.search({ query: plainQuery('lantern'), limit: 1, offset: 0 })).total;
  } finally {
    await storage.close();
  }
}
