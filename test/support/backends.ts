import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';

export interface Backend {
  readonly name: 'sqlite' | 'postgres';
  /** Opens a database that is empty and is closed and removed when the suite has ended. */
  open(options?: { now?: () => Date }): Promise<Storage>;
}

/** Runs the suite once on each backend. */
export function onEachBackend(name: string, suite: (backend: Backend) => void): void {
  describe(`${name} on SQLite`, () => suite(sqliteBackend()));
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
      const storage = await createSqliteStorage({ path: join(folder, `${opened.length}.db`) }, options);
      opened.push(storage);
      return storage;
    },
  };
}
