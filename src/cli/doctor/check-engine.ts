import { openRemoteEngine } from '../../app/open-engine.ts';
import type { Role } from '../../app/role.ts';
import { CarrelError } from '../../base/errors.ts';
import { maskAddress } from '../../base/secret.ts';
import type { Config } from '../../config/load.ts';
import { engineRoles, engineSlice } from '../../engine/engine-slice.ts';
import { storageSlice } from '../../storage/storage-slice.ts';
import { kbSlice } from '../../toolsets/kb/kb-slice.ts';
import type { Check } from './check-machine.ts';

/** Reports work that the local engine leaves to other processes. Empty if it does all work, or if the engine is remote. */
export function checkRoles(role: Role, config: Config): Check[] {
  if (!role.slices.includes(engineSlice)) return [];
  if (role.slices.includes(kbSlice) && config.of(kbSlice).engineUrl !== undefined) return [];
  const { roles } = config.of(engineSlice);
  const omitted = engineRoles.filter((each) => !roles.includes(each));
  if (omitted.length === 0) return [];
  const found = `${roles.join(', ')}; left to other processes on the database: ${omitted.join(', ')}`;
  const needsOtherProcess = config.of(storageSlice).backend === 'sqlite' && omitted.some((each) => each !== 'search');
  return [
    {
      name: 'roles',
      ok: true,
      found,
      ...(needsOtherProcess
        ? { remedy: 'start a process with these roles on the same SQLite file, or unset KB_ROLES' }
        : {}),
    },
  ];
}

const timeoutMs = 5_000;

/** Checks that a remote kb engine answers and accepts the configured key. An engine in this process needs no check. */
export async function checkEngine(role: Role, config: Config): Promise<Check[]> {
  const engine = role.slices.includes(kbSlice) ? await openRemoteEngine(config, timeoutMs) : undefined;
  if (engine === undefined) return [];
  const address = maskAddress(config.of(kbSlice).engineUrl ?? '');
  try {
    const { version, documents, roles } = await engine.status();
    // Another vendor's engine may use this field differently.
    const knownRoles = Array.isArray(roles) ? engineRoles.filter((each) => roles.includes(each)) : [];
    const limited = knownRoles.length === 0 ? '' : `, ${knownRoles.join(' and ')} only`;
    return [{ name: 'kb engine', ok: true, found: `${address}: version ${version}, ${documents} documents${limited}` }];
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    const remedy =
      error.code === 'engine_unauthorized'
        ? "set KB_API_KEY to the engine's key"
        : 'start the engine (carrel engine), or fix KB_ENGINE_URL';
    return [{ name: 'kb engine', ok: false, found: `${address}: ${error.message}`, remedy }];
  } finally {
    await engine.close();
  }
}
