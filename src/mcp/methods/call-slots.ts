import { createSlots, type SlotsOptions } from '../../base/slots.ts';
import type { Toolset } from '../../tools/toolset.ts';

export type CallSlots = ReturnType<typeof createCallSlots>;

/** Limits how many calls run at the same time: in total, and per toolset, if it has its own limit. */
export function createCallSlots(toolsets: readonly Toolset[], inFlight: SlotsOptions) {
  const { runningMax } = inFlight;
  // One caller can use at most seven eighths of the slots, so that slow calls do not block other callers.
  const totalSlots = createSlots({ ...inFlight, perCallerMax: runningMax - Math.floor(runningMax / 8) });
  const byToolset = new Map(toolsets.flatMap((set) => (set.inFlight ? [[set.name, createSlots(set.inFlight)]] : [])));
  return {
    /** Waits for a slot under both limits, calls `started`, then runs the work. */
    async run<Result>(
      toolset: Toolset,
      signal: AbortSignal,
      work: () => Promise<Result>,
      started?: () => void,
    ): Promise<Result> {
      const releases: (() => void)[] = [];
      try {
        for (const slots of [totalSlots, byToolset.get(toolset.name)])
          if (slots) releases.push(await slots.acquire(signal));
        started?.();
        return await work();
      } finally {
        for (const release of releases) release();
      }
    },
  };
}
