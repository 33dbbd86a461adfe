import type { StorageDescription } from '../contracts/storage.ts';
import type { Statements } from '../dialect.ts';

export async function describeStorage(on: Statements): Promise<StorageDescription> {
  return on.dialect.describe(on);
}

/** Compares what is stored with what is indexed. The problems found, one sentence each. */
export async function checkStorage(on: Statements): Promise<string[]> {
  return on.dialect.check(on);
}
