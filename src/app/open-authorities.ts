import { createTokenAuthority } from '../access/token-authority.ts';
import type { Logger } from '../base/log.ts';
import type { Config } from '../config/load.ts';
import type { Authority } from '../http/guards.ts';
import { inspectStorage } from '../storage/inspect-storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { kbSlice } from '../toolsets/kb/kb-slice.ts';
import { openConfiguredStorage, storagePlace } from './open-storage.ts';
import type { Role } from './role.ts';
import type { SharedParts } from './shared-parts.ts';

export interface Authorities {
  readonly authorities: readonly Authority[];
  close(): Promise<void>;
}

/** Who gives out tokens for a role, besides its settings: its database, if it has one. */
export async function openAuthorities(
  role: Role,
  config: Config,
  log: Logger,
  shared: SharedParts,
): Promise<Authorities> {
  if (!(await usesDatabase(role, config))) return { authorities: [], close: async () => {} };
  let lease: ReturnType<SharedParts['storage']> | undefined;
  const tokens = async () => {
    lease ??= shared.storage();
    return (await lease).part.tokens;
  };
  return {
    authorities: [createTokenAuthority(tokens, log)],
    close: async () => (await lease)?.release(),
  };
}

/** In front of an engine elsewhere there may be none, and none is made for the sake of tokens. */
async function usesDatabase(role: Role, config: Config): Promise<boolean> {
  if (!role.slices.includes(storageSlice)) return false;
  const isFront = role.name === 'kb' && config.of(kbSlice).engineUrl !== undefined;
  if (!isFront) return true;
  const { schema } = await inspectStorage(storagePlace(config.of(storageSlice), config.dataDir));
  return schema !== undefined;
}

/** Whether a database that is there already has tokens. A start that is refused must not have made one. */
export async function hasNamedTokens(role: Role, config: Config): Promise<boolean> {
  if (!role.slices.includes(storageSlice)) return false;
  const { schema } = await inspectStorage(storagePlace(config.of(storageSlice), config.dataDir));
  if (schema === undefined) return false;
  const storage = await openConfiguredStorage(config.of(storageSlice), config.dataDir);
  try {
    return await storage.tokens.any();
  } finally {
    await storage.close();
  }
}
