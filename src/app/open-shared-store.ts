import type { SharedStore } from '../base/shared-store.ts';
import { useSigningKey } from '../base/signing-key.ts';
import type { Config } from '../config/load.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { storageLocation } from './configured-storage.ts';
import { usesDatabase } from './open-authorities.ts';
import type { Role } from './role.ts';
import type { SharedServices } from './shared-services.ts';

export interface OpenedSharedStore {
  /** Undefined if the role has no database, or with SQLite. */
  readonly store: SharedStore | undefined;
  close(): Promise<void>;
}

/** Opens the state that all processes on a PostgreSQL database share, and adopts its signing key. */
export async function openSharedStore(role: Role, config: Config, shared: SharedServices): Promise<OpenedSharedStore> {
  const none = { store: undefined, close: async () => {} };
  if (!role.slices.includes(storageSlice)) return none;
  if (storageLocation(config.of(storageSlice), config.dataDir).backend !== 'postgres') return none;
  if (!(await usesDatabase(role, config))) return none;
  const { resource: storage, release } = await shared.storage();
  const store = storage.shared;
  if (store) useSigningKey(await store.signingKey());
  return { store, close: release };
}
