import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { openStorage, type StorageLocation } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import {
  createTestDatabase,
  type PostgresServer,
  postgresName,
  postgresObstacle,
  serverObstacle,
  startPostgres,
} from './postgres.ts';

export interface Backend {
  readonly name: 'sqlite' | 'postgres';
  /** Opens an empty database, which is closed and removed after the suite. */
  open(options?: { now?: () => Date }): Promise<Storage>;
  /** Creates an empty database and returns its location. It is removed after the suite. */
  newLocation(): Promise<StorageLocation>;
}

/** Runs the suite once on each backend. `server` excludes PGlite, which has no COPY or parallel connections and can't crash. */
export function onEachBackend(name: string, suite: (backend: Backend) => void, needs: 'any' | 'server' = 'any'): void {
  describe(`${name} on SQLite`, () => suite(sqliteBackend()));
  const obstacle = needs === 'server' ? serverObstacle() : postgresObstacle();
  describe(`${name} on ${postgresName()}`, { skip: obstacle ?? false }, () => {
    if (obstacle === undefined) suite(postgresBackend());
  });
}

/** Runs the suite once with both backends, if there is a PostgreSQL server. */
export function onBothBackends(name: string, suite: (sqlite: Backend, postgres: Backend) => void): void {
  const obstacle = serverObstacle();
  describe(name, { skip: obstacle ?? false }, () => {
    if (obstacle === undefined) suite(sqliteBackend(), postgresBackend());
  });
}

/** Creates a folder that is removed when the suite ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  after(() => rmSync(folder, { recursive: true, maxRetries: 5, retryDelay: 100, force: true }));
  return folder;
}

function sqliteBackend(): Backend {
  const folder = temporaryFolder();
  let count = 0;
  const newLocation = async (): Promise<StorageLocation> => {
    count += 1;
    return { backend: 'sqlite', path: join(folder, `${count}.db`) };
  };
  return { name: 'sqlite', newLocation, open: createOpener(newLocation) };
}

function postgresBackend(): Backend {
  let server: PostgresServer | undefined;
  const drops: (() => Promise<void>)[] = [];
  const newLocation = async (): Promise<StorageLocation> => {
    if (server === undefined) {
      const started = await startPostgres();
      assert.ok(typeof started !== 'string', String(started));
      server = started;
    }
    const { url, drop } = await createTestDatabase(server);
    drops.push(drop);
    return { backend: 'postgres', url };
  };
  // Closes open storages before the databases are removed.
  const open = createOpener(newLocation);
  after(async () => {
    for (const drop of drops.reverse()) await drop();
    await server?.stop();
  });
  return { name: 'postgres', newLocation, open };
}

function createOpener(newLocation: Backend['newLocation']): Backend['open'] {
  const opened: Storage[] = [];
  after(async () => {
    for (const storage of opened.reverse()) await storage.close();
  });
  return async (options = {}) => {
    const storage = await openStorage(await newLocation(), options);
    opened.push(storage);
    return storage;
  };
}
