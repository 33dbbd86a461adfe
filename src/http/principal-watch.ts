import type { Principal } from '../base/rights.ts';
import type { Guards } from './guards.ts';

export type PrincipalWatch = ReturnType<typeof createPrincipalWatch>;

const pollMs = 1_000;

/** Ends a caller's open streams and sessions when its token is revoked, in any process, or expires. */
export function createPrincipalWatch({ areValid }: Pick<Guards, 'areValid'>) {
  const watched = new Set<{ principal: Principal; end: () => void }>();
  let timer: NodeJS.Timeout | undefined;
  let isPolling = false;

  const poll = async (): Promise<void> => {
    if (watched.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    if (isPolling) return;
    isPolling = true;
    try {
      const entries = [...watched];
      const valid = await areValid(entries.map(({ principal }) => principal));
      for (const [index, entry] of entries.entries()) {
        if (valid[index] === false && watched.delete(entry)) entry.end();
      }
    } catch {
      // Tokens cannot be checked now. The next round tries again; meanwhile, new requests are refused.
    } finally {
      isPolling = false;
    }
  };

  return {
    /** Calls `end` when the token becomes invalid. Returns the function that stops this. Ignores tokens that never expire. */
    add(principal: Principal | undefined, end: () => void): () => void {
      if (principal?.credential === undefined && principal?.expiresAt === undefined) return () => {};
      const entry = { principal, end };
      watched.add(entry);
      timer ??= setInterval(() => void poll(), pollMs).unref();
      return () => void watched.delete(entry);
    },
    close(): void {
      clearInterval(timer);
      watched.clear();
    },
  };
}
