/** The work left at one moment. */
export interface WorkState {
  /** Milliseconds since 1970. */
  at: number;
  /** Files queued or processing. */
  waiting: number;
  /** All files so far that are done or failed. */
  finished: number;
  /** Passages without vectors. */
  unembedded: number;
}

export interface WorkPace {
  /** Undefined if no file was finished recently. */
  filesPerMinute?: number;
  filesLeftMs?: number;
  passagesPerMinute?: number;
  passagesLeftMs?: number;
}

/** Estimates the speed of ingestion from earlier samples. */
export interface Pace {
  /** Adds a sample and returns the current speed. */
  update(now: WorkState): WorkPace;
}

/** Max age of the samples that count. */
const windowMs = 60_000;
const samplesMax = 120;

export function createPace(): Pace {
  let samples: WorkState[] = [];
  return {
    update(now) {
      samples = [...samples.filter(({ at }) => at < now.at && now.at - at <= windowMs), now].slice(-samplesMax);
      const [first = now] = samples;
      const minutes = (now.at - first.at) / 60_000;
      if (minutes === 0) return {};
      const filesPerMinute = (now.finished - first.finished) / minutes;
      // A finished file adds passages, so embedding is measured only since the last finished file.
      const start = samples.find(({ finished }) => finished === now.finished) ?? now;
      const passagesPerMinute =
        (start.unembedded - now.unembedded) / Math.max((now.at - start.at) / 60_000, Number.EPSILON);
      return {
        ...(filesPerMinute > 0 && now.waiting > 0
          ? { filesPerMinute, filesLeftMs: (now.waiting / filesPerMinute) * 60_000 }
          : {}),
        ...(passagesPerMinute > 0 && now.unembedded > 0
          ? { passagesPerMinute, passagesLeftMs: (now.unembedded / passagesPerMinute) * 60_000 }
          : {}),
      };
    },
  };
}
