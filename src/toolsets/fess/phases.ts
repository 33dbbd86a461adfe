import type { Call } from '../../tools/call.ts';

/** Reports the stages of a call as progress: each has its share of 100, which fills slowly with time (000 §9.2). */
export interface Phases {
  /** Reports the stage, and goes on reporting while the work takes long. */
  during<Result>(phase: Phase, work: () => Promise<Result>): Promise<Result>;
  done(): void;
}

export type Phase = 'fetching' | 'converting' | 'chunking';

const total = 100;
/** Where a stage begins, and what it approaches but never reaches. */
const spans: Record<Phase, readonly [number, number]> = {
  fetching: [5, 70],
  converting: [70, 95],
  chunking: [95, 99],
};
const tickMs = 1_000;
/** The share of the remainder that each tick takes: progress always grows and never completes by itself. */
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
