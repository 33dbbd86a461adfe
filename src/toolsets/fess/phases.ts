import type { Call } from '../../tools/call.ts';

/** Reports the phases of a call as progress, up to 100. Each phase has a range, which fills gradually. */
export interface Phases {
  /** Runs `work` and reports the phase every second while it runs. */
  during<Result>(phase: Phase, work: () => Promise<Result>): Promise<Result>;
  done(): void;
}

type Phase = 'fetching' | 'converting' | 'chunking';

const total = 100;
/** Progress at the start of each phase, and the limit that it approaches. */
const spans: Record<Phase, readonly [number, number]> = {
  fetching: [5, 70],
  converting: [70, 95],
  chunking: [95, 99],
};
const tickMs = 1_000;
/** Share of the remaining range that is added per tick, so that progress grows but never reaches the limit. */
const tickShare = 0.15;

export function createPhases(call: Pick<Call, 'report'>): Phases {
  let reached = 0;
  const report = (progress: number, message: string): void => {
    if (progress <= reached) return;
    reached = progress;
    call.report({ progress, total, message });
  };
  return {
    async during(phase, work) {
      const [from, to] = spans[phase];
      report(from, phase);
      const timer = setInterval(() => report(reached + (to - reached) * tickShare, phase), tickMs);
      try {
        return await work();
      } finally {
        clearInterval(timer);
      }
    },
    done: () => report(total, 'done'),
  };
}
