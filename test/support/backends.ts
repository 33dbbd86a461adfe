import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createTestDatabase, type PostgresServer, postgresObstacle, startPostgres } from './postgres.ts';

export interface Backend {
  readonly name: 'sqlite' | 'postgres';
  /** Opens a database that is empty and is closed and removed when the suite has ended. */
  open(options?: { now?: () => Date }): Promise<Storage>;
}

/** Runs the suite once on each backend. */
export function onEachBackend(name: string, suite: (backend: Backend) => void): void {
  describe(`${name} on SQLite`, () => suite(sqliteBackend()));
  const obstacle = postgresObstacle();
  describe(`${name} on PostgreSQL`, { skip: obstacle ?? false }, () => {
    if (obstacle === undefined) suite(postgresBackend());
  });
}

/** A folder that is removed when the suite has ended. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function sqliteBackend(): Backend {
  const folder = temporaryFolder();
  const opened: Storage[] = [];
  after(async () => {
    for (const storage of opened) await storage.close();
  });
  return {
    name: 'sqlite',
    async open(options = {}) {
      const storage = await openStorage({ backend: 'sqlite', path: join(folder, `${opened.length}.db`) }, options);
      opened.push(storage);
      return storage;
    },
  };
}

function postgresBackend(): Backend {
  let server: PostgresServer | undefined;
  const closings: (() => Promise<void>)[] = [];
  after(async () => {
    for (const close of closings.reverse()) await close();
    await server?.stop();
  });
  return {
    name: 'postgres',
    async open(options = {}) {
      if (server === undefined) {
        const started = await startPostgres();
        assert.ok(typeof started !== 'string', String(started));
        server = started;
      }
      const database = await createTestDatabase(server);
      const storage = await openStorage({ backend: 'postgres', url: database.url }, options);
      closings.push(async () => {
        await storage.close();
        await database.drop();
      });
      return storage;
    },
  };
}
