import { embeddingServer, unavailable } from '../models/remote-calls.ts';

/** Keeps searches from waiting for a server that takes connections and says nothing. */
export interface SilentServer {
  /** The answer, if it comes in time; words alone must do without it. The work goes on: it may load the server's model. */
  inTime<Answer>(work: () => Promise<Answer>): Promise<Answer>;
  /** It has answered somebody. */
  heard(): void;
}

/** After a search that has waited in vain, the next ones do not wait for so long, unless the server is heard of. */
const silenceMs = 30_000;

export function createSilentServer(waitMs: number): SilentServer {
  let silentUntil = 0;
  return {
    heard() {
      silentUntil = 0;
    },
    async inTime(work) {
      const leftMs = silentUntil - performance.now();
      if (leftMs > 0) throw unavailable(embeddingServer, new Error('silent'), leftMs);
      const { promise: tooLate, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        silentUntil = performance.now() + silenceMs;
        reject(unavailable(embeddingServer, new Error(`no answer in ${waitMs} ms`), silenceMs));
      }, waitMs);
      try {
        return await Promise.race([work(), tooLate]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
