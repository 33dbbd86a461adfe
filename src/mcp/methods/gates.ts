import { createSlots, type SlotsOptions } from '../../base/slots.ts';
import type { Toolset } from '../../tools/toolset.ts';

/** Limits what runs at the same time: all calls together, and those of a toolset that has its own limit. */
export interface Gates {
  /** Waits for a free place behind every gate, and says so before the work begins. */
  pass<Result>(
    toolset: Toolset,
    signal: AbortSignal,
    entered: () => void,
    work: () => Promise<Result>,
  ): Promise<Result>;
}

export function createGates(toolsets: readonly Toolset[], inFlight: SlotsOptions): Gates {
  const { runningMax } = inFlight;
  // The slow calls of one caller leave an eighth of the places to others.
  const common = createSlots({ ...inFlight, perCallerMax: runningMax - Math.floor(runningMax / 8) });
  const own = new Map(toolsets.flatMap((set) => (set.inFlight ? [[set.name, createSlots(set.inFlight)]] : [])));
  return {
    async pass(toolset, signal, entered, work) {
      const releases: (() => void)[] = [];
      try {
        for (const slots of [common, own.get(toolset.name)]) if (slots) releases.push(await slots.acquire(signal));
        entered();
        return await work();
      } finally {
        for (const release of releases) release();
      }
    },
  };
}
