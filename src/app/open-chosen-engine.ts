import type { Engine } from '../engine/engine.ts';
import { kbSlice } from '../toolsets/kb/kb-slice.ts';
import { type EngineContext, engineSlices, openLocalEngine } from './open-engine.ts';

export const chosenEngineSlices = [...engineSlices, kbSlice] as const;

/** The engine at KB_ENGINE_URL, or one in this process. */
export async function openChosenEngine(context: EngineContext): Promise<Engine> {
  const { engineUrl, apiKey, engineTimeoutMs: timeoutMs } = context.config.of(kbSlice);
  if (engineUrl === undefined) return openLocalEngine(context);
  const { createRemoteEngine } = await import('../engine/remote/create-remote-engine.ts');
  return createRemoteEngine({ engineUrl, apiKey, timeoutMs });
}
