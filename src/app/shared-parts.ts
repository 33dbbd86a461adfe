import { join, resolve } from 'node:path';
import type { Config } from '../config/load.ts';
import { createExtractor, type Extractor } from '../documents/extractor.ts';
import { createSqliteStorage } from '../storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';

/** Something that several toolsets use: opened for the first that asks, closed when the last gives it back. */
export interface Lease<Part> {
  part: Part;
  release(): Promise<void>;
}

export interface SharedParts {
  storage(): Promise<Lease<Storage>>;
  extractor(): Promise<Lease<Extractor>>;
}

/** What one document may cost (security bar: five seconds, 256 MB), and how many are read at the same time. */
const extraction = { timeoutMs: 5_000, memoryMb: 256, workersMax: 2 };

export function createSharedParts(config: Config): SharedParts {
  return {
    storage: createLeases(() => createSqliteStorage({ path: databasePath(config) })),
    extractor: createLeases(async () => createExtractor(extraction)),
  };
}

function databasePath(config: Config): string {
  const { path } = config.of(storageSlice);
  return path === undefined ? join(config.dataDir, 'carrel.db') : resolve(path);
}

function createLeases<Part extends { close(): Promise<void> }>(open: () => Promise<Part>): () => Promise<Lease<Part>> {
  let opened: Promise<Part> | undefined;
  let holders = 0;
  return async () => {
    opened ??= open();
    const part = await opened;
    holders += 1;
    return {
      part,
      async release() {
        holders -= 1;
        if (holders === 0) await part.close();
      },
    };
  };
}
