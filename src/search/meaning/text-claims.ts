import { createLeaseOwner, isGone } from '../../jobs/lease-owner.ts';
import type { ClaimedTexts, TextToEmbed, VectorStore } from '../../storage/contracts/vectors.ts';

/** The texts of one model that this process embeds and no other does meanwhile. */
export interface TextClaims {
  /** Texts to embed now: those asked for, or the newest if none are. They stay claimed until they are done or released. */
  next(request: NextTextsRequest): Promise<NextTexts>;
  /** These have their vectors. */
  done(texts: readonly TextToEmbed[]): void;
  /** Leaves to others what is not done. */
  release(): Promise<void>;
}

export interface NextTextsRequest {
  /** The most urgent first. */
  readonly asked: readonly number[];
  readonly limit: number;
}

export interface NextTexts {
  readonly texts: TextToEmbed[];
  /** There was nothing to take. */
  readonly isIdle: boolean;
  /** Those asked for that need not be asked for again: they do not wait, or wait for another process. */
  readonly over: readonly number[];
  /** Owners of texts that others have claimed: of those asked for, or of any where nothing is left to take. */
  readonly elsewhere: readonly number[];
}

export type ClaimableVectors = Pick<VectorStore<never>, 'waiting' | 'claim' | 'renew' | 'release'>;

/** A process on this machine that died is noticed at once, one on another when its claims have run out. */
const leaseMs = 30_000;
const renewMs = 10_000;
/**
 * As many as this process embeds in about a second are claimed at once: a claim takes a write, which waits for the disk, but
 * whoever waits for a text that was claimed elsewhere waits for all that is done before it.
 */
const claimedMin = 32;
const claimedMax = 256;

export function createTextClaims(vectors: ClaimableVectors, model: string): TextClaims {
  const claimant = createLeaseOwner();
  /** Owners of claimed texts, the newest first unless they were asked for. */
  const held = new Set<number>();
  let renewing: NodeJS.Timeout | undefined;
  let renewed: Promise<void> = Promise.resolve();
  let finished = 0;
  let pacedAt = performance.now();
  return {
    async next({ asked, limit }) {
      const { tried, elsewhere } = await hold(asked, limit);
      const over = tried.filter((owner) => !held.has(owner));
      const batch = (asked.length > 0 ? asked.filter((owner) => held.has(owner)) : [...held]).slice(0, limit);
      const texts = batch.length > 0 ? await vectors.waiting({ model, limit, owners: batch, claimant }) : [];
      // The others were changed or removed since. Those that are there can be claimed again.
      const found = new Set(texts.map(({ owner }) => owner));
      drop(batch.filter((owner) => !found.has(owner)));
      return { texts, isIdle: batch.length === 0, over, elsewhere };
    },
    done(texts) {
      finished += texts.length;
      drop(texts.map(({ owner }) => owner));
    },
    async release() {
      if (held.size === 0) return;
      drop([...held]);
      await renewed;
      await vectors.release({ model, claimants: [claimant] });
    },
  };

  /** Claims what is asked for, unless the most urgent are held already, or the newest if nothing is held. */
  async function hold(asked: readonly number[], urgent: number) {
    const tried = asked.slice(0, claimedMax).filter((owner) => !held.has(owner));
    const enough = asked.length === 0 ? held.size > 0 : asked.slice(0, urgent).every((owner) => held.has(owner));
    if (enough) return { tried: [], elsewhere: [] };
    const elsewhere = await claim(asked.length === 0 ? { limit: pace() } : { limit: tried.length, owners: tried });
    return { tried, elsewhere };
  }

  /** The owners of what others hold. */
  async function claim(request: { limit: number; owners?: readonly number[] }): Promise<number[]> {
    for (;;) {
      const { owners, others } = await vectors.claim({ model, claimant, leaseMs, ...request });
      for (const owner of owners) held.add(owner);
      if (held.size > 0) renewing ??= setInterval(renew, renewMs).unref();
      const gone = goneAmong(others);
      if (gone.length === 0) return others.map(({ owner }) => owner);
      await vectors.release({ model, claimants: gone });
    }
  }

  /** Texts per second since this was last asked, within bounds. */
  function pace(): number {
    const now = performance.now();
    const rate = (finished * 1000) / Math.max(1, now - pacedAt);
    [finished, pacedAt] = [0, now];
    return Math.min(claimedMax, Math.max(claimedMin, Math.round(rate)));
  }

  function renew(): void {
    // If it fails, the next time may come soon enough. At worst a text is embedded twice.
    renewed = vectors.renew({ model, claimant, leaseMs, owners: [...held] }).catch(() => {});
  }

  function drop(owners: readonly number[]): void {
    for (const owner of owners) held.delete(owner);
    if (held.size > 0) return;
    clearInterval(renewing);
    renewing = undefined;
  }
}

function goneAmong(others: ClaimedTexts['others']): string[] {
  const claimants = new Set(others.flatMap(({ claimant }) => claimant ?? []));
  return [...claimants].filter(isGone);
}
