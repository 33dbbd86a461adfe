import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Short-lived state that several processes share, such as running calls, uploads and counters. Each item has a kind, an
 * id that is unique within the kind, and numbered parts. Expired parts count as absent. The store exists only on a database
 * server: processes that use one SQLite file share a folder instead.
 */
export interface SharedStore {
  /** Adds a part. Returns false if it exists: the first of several writers wins. */
  add(part: PartName, content: Uint8Array, ttlMs: number): Promise<boolean>;
  /** Adds a part from a stream of any length; readers see all of it or nothing. Returns its size; undefined if the part exists. */
  addStream(
    part: PartName,
    content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    ttlMs: number,
  ): Promise<number | undefined>;
  /** Adds or replaces the part. */
  put(part: PartName, content: Uint8Array, ttlMs: number): Promise<void>;
  read(part: PartName): Promise<Buffer | undefined>;
  stream(part: PartName): AsyncIterable<Uint8Array>;
  /** Reads the part with this number of every item of a kind. */
  readAll(request: { readonly kind: string; readonly part: number }): Promise<Buffer[]>;
  /** Lists the parts of all items of a kind, or of those with these ids, without their content. */
  list(request: { readonly kind: string; readonly ids?: readonly string[] }): Promise<ListedPart[]>;
  /** Extends the lifetime of all parts of an item. */
  touch(item: ItemName, ttlMs: number): Promise<void>;
  /** Removes all parts of an item, or only these. */
  remove(item: ItemName, parts?: readonly number[]): Promise<void>;
  /** Counts a call across all processes, unless `limit` calls were counted within the last `windowMs`. */
  countCall(request: CountRequest): Promise<RateDecision>;
  /** Returns the signing key that all processes on this database share. */
  signingKey(): Promise<Buffer>;
  /** Notifies all other processes. Delivery is not guaranteed: listeners must poll too. */
  notify(notice: Notice): void;
  onNotice(listener: (notice: Notice) => void): () => void;
}

export interface ItemName {
  readonly kind: string;
  readonly id: string;
}

export interface PartName extends ItemName {
  /** The number of the part, from 0. */
  readonly part: number;
}

export interface ListedPart {
  readonly id: string;
  readonly part: number;
  readonly bytes: number;
}

export interface CountRequest {
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
}

export type RateDecision = { ok: true } | { ok: false; retryAfterMs: number };

/**
 * `written`: a watched resource changed. `work`: something waits to be ingested or embedded. `task`, `job`: the task or job with
 * this id changed. `session`: the session with this id ended, or there is a message from or for another process.
 */
export type Notice =
  | { readonly about: 'written' | 'work' }
  | { readonly about: 'task'; readonly id: string }
  | { readonly about: 'job'; readonly id: string }
  | { readonly about: 'session'; readonly id: string; readonly what: 'ended' }
  | { readonly about: 'session'; readonly id: string; readonly what: 'in' | 'out'; readonly message: object };

/** Duration of a lease unless it is renewed. If its process dies, other processes wait this long. */
const leaseMs = 30_000;
/** Delay between attempts to get a lease. It grows from `first` to `max`. */
const retryDelayMs = { first: 100, max: 2_000 } as const;

/**
 * Runs work that only one process may do at a time. The lease is a row, not an advisory lock, because a pooler in transaction
 * mode can't keep a lock between statements. `renew` runs before each renewal.
 */
export async function withLease<Result>(
  shared: Pick<SharedStore, 'add' | 'put' | 'read' | 'remove'>,
  item: ItemName,
  work: () => Promise<Result>,
  { signal, renew = async () => {} }: { readonly signal?: AbortSignal; readonly renew?: () => Promise<void> } = {},
): Promise<Result> {
  const part = { ...item, part: 0 };
  const holder = Buffer.from(randomUUID());
  for (let waitMs: number = retryDelayMs.first; !(await shared.add(part, holder, leaseMs)); ) {
    await delay(waitMs, undefined, { signal });
    waitMs = Math.min(retryDelayMs.max, 1.5 * waitMs);
  }
  // After a long stall another process may hold the lease.
  const isOurs = async () => (await shared.read(part))?.equals(holder) ?? false;
  let renewal = Promise.resolve();
  // A failed renewal is ignored, because the next one comes in time.
  const timer = setInterval(() => {
    renewal = renewal
      .then(renew)
      .then(async () => {
        if (await isOurs()) await shared.put(part, holder, leaseMs);
      })
      .catch(() => {});
  }, leaseMs / 3).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewal;
    if (await isOurs().catch(() => false)) await shared.remove(item).catch(() => {});
  }
}
