import type { Principal } from '../base/rights.ts';
import type { Guards } from './guards.ts';

/** Ends a caller's open streams and sessions when its token is revoked, in any process, or expires. */
export interface PrincipalWatch {
  /** Calls `end` when the token becomes invalid. Returns the function that stops this. Ignores tokens that stay valid forever. */
  add(principal: Principal | undefined, end: () => void): () => void;
  close(): void;
}

const pollMs = 1_000;

export function createPrincipalWatch({ areValid }: Pick<Guards, 'areValid'>): PrincipalWatch {
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
      const each = [...watched];
      const valid = await areValid(each.map(({ principal }) => principal));
      for (const [index, entry] of each.entries()) {
        if (valid[index] === false && watched.delete(entry)) entry.end();
      }
    } catch {
      // Tokens cannot be checked now. The next round tries again; meanwhile, new requests are refused.
    } finally {
      isPolling = false;
    }
  };

  return {
    add(principal, end) {
      if (principal?.credential === undefined && principal?.expiresAt === undefined) return () => {};
      const entry = { principal, end };
      watched.add(entry);
      timer ??= setInterval(() => void poll(), pollMs).unref();
      return () => void watched.delete(entry);
    },
    close() {
      clearInterval(timer);
      watched.clear();
    },
  };
}
