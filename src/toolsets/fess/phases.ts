import type { Call } from '../../tools/call.ts';

/** Reports a call's phases as progress: each has a share of 100, filled gradually (000 §9.2). */
export interface Phases {
  /** Reports the phase, repeatedly while the work runs. */
  during<Result>(phase: Phase, work: () => Promise<Result>): Promise<Result>;
  done(): void;
}

export type Phase = 'fetching' | 'converting' | 'chunking';

const total = 100;
/** Start of a phase, and the limit it approaches but never reaches. */
const spans: Record<Phase, readonly [number, number]> = {
  fetching: [5, 70],
  converting: [70, 95],
  chunking: [95, 99],
};
const tickMs = 1_000;
/** Share of the remainder per tick: progress always grows and never completes by itself. */
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
