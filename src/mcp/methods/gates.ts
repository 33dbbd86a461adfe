import { createSlots, type SlotsOptions } from '../../base/slots.ts';
import type { Toolset } from '../../tools/toolset.ts';

/** Limits how many calls run at once: in total, and per toolset, if it has its own limit. */
export interface Gates {
  /** Waits for a slot under both limits, calls `entered`, then runs the work. */
  pass<Result>(
    toolset: Toolset,
    signal: AbortSignal,
    entered: () => void,
    work: () => Promise<Result>,
  ): Promise<Result>;
}

export function createGates(toolsets: readonly Toolset[], inFlight: SlotsOptions): Gates {
  const { runningMax } = inFlight;
  // One caller can use at most seven eighths of the slots, so that slow calls do not block other callers.
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
