import { openRemoteEngine } from '../app/open-engine.ts';
import type { Role } from '../app/role.ts';
import { CarrelError } from '../base/errors.ts';
import { maskAddress } from '../base/secret.ts';
import type { Config } from '../config/load.ts';
import { kbSlice } from '../toolsets/kb/kb-slice.ts';
import type { Check } from './check.ts';

const timeoutMs = 5_000;

/** Whether a remote kb engine answers and accepts our key. One in the same process needs no check. */
export async function checkEngine(role: Role, config: Config): Promise<Check[]> {
  const engine = role.slices.includes(kbSlice) ? await openRemoteEngine(config, timeoutMs) : undefined;
  if (engine === undefined) return [];
  const shown = maskAddress(config.of(kbSlice).engineUrl ?? '');
  try {
    const { version, documents } = await engine.status();
    return [{ name: 'kb engine', ok: true, found: `${shown}: version ${version}, ${documents} documents` }];
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    const remedy =
      error.code === 'engine_unauthorized'
        ? "set KB_API_KEY to the engine's key"
        : 'start the engine (carrel engine), or fix KB_ENGINE_URL';
    return [{ name: 'kb engine', ok: false, found: `${shown}: ${error.message}`, remedy }];
  } finally {
    await engine.close();
  }
}
