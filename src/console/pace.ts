/** What there is to do at a moment. */
export interface WorkState {
  /** Milliseconds since 1970. */
  at: number;
  /** Files that wait or are being read. */
  waiting: number;
  /** Files that are done or failed, ever. */
  finished: number;
  /** Passages without vectors. */
  unembedded: number;
}

export interface WorkPace {
  /** Undefined while it is not known: nothing was finished lately. */
  filesPerMinute?: number;
  filesLeftMs?: number;
  passagesPerMinute?: number;
  passagesLeftMs?: number;
}

/** How fast work goes, from how it stood when somebody looked. */
export interface Pace {
  of(now: WorkState): WorkPace;
}

/** Looks that are older say nothing about the pace of now. */
const windowMs = 60_000;
const looksMax = 120;

export function createPace(): Pace {
  let looks: WorkState[] = [];
  return {
    of(now) {
      looks = [...looks.filter(({ at }) => at < now.at && now.at - at <= windowMs), now].slice(-looksMax);
      const [first = now] = looks;
      const minutes = (now.at - first.at) / 60_000;
      if (minutes === 0) return {};
      const files = (now.finished - first.finished) / minutes;
      // Files that are finished in between add passages; how many are left tells a pace only while none is.
      const still = looks.find(({ finished }) => finished === now.finished) ?? now;
      const passages = (still.unembedded - now.unembedded) / Math.max((now.at - still.at) / 60_000, Number.EPSILON);
      return {
        ...(files > 0 && now.waiting > 0 ? { filesPerMinute: files, filesLeftMs: (now.waiting / files) * 60_000 } : {}),
        ...(passages > 0 && now.unembedded > 0
          ? { passagesPerMinute: passages, passagesLeftMs: (now.unembedded / passages) * 60_000 }
          : {}),
      };
    },
  };
}
