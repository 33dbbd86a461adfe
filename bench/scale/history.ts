/**
 * One answer that a client got. An item is an entry, note or document that one client writes several times and all clients
 * read. Clients repeat a write until it is acknowledged.
 */
export interface Observation {
  readonly item: string;
  readonly kind: 'write' | 'read';
  /** Such as `add` or `hybrid`. */
  readonly operation: string;
  /** When the call was sent and when its answer arrived, by a clock that all clients share. */
  readonly startMs: number;
  readonly endMs: number;
  /** For a write, the returned id. For a read, one id per hit: two hits mean that the item is stored twice. */
  readonly ids: readonly string[];
  /** The version written or seen; undefined if an answer does not say. */
  readonly version: number | undefined;
}

/** The final state of an item. */
export interface StoredItem {
  readonly item: string;
  readonly id: string;
  readonly version: number | undefined;
}

/**
 * Checks that answers are linearizable. If a version was acknowledged or seen before a call was sent, the call returns that
 * version or a newer one, exactly once. No call returns a version that nobody has written.
 */
export function findFaults(history: readonly Observation[], stored: readonly StoredItem[]): string[] {
  const items = Map.groupBy(history, ({ item }) => item);
  const storedByItem = Map.groupBy(stored, ({ item }) => item);
  const faults = [...items].flatMap(([item, observations]) => [
    ...findReadFaults(observations),
    ...findFinalFaults(observations, storedByItem.get(item) ?? []),
  ]);
  for (const item of storedByItem.keys())
    if (!items.has(item)) faults.push(`${item} exists, but no write was acknowledged`);
  return faults;
}

function findReadFaults(observations: readonly Observation[]): string[] {
  const writes = observations.filter(({ kind }) => kind === 'write');
  const id = writes[0]?.ids[0];
  const faults = writes
    .filter(({ ids }) => ids[0] !== id)
    .map(({ item, ids }) => `${item} is stored twice: ${id} and ${ids}`);
  for (const read of observations.filter(({ kind }) => kind === 'read')) {
    const earlier = observations.filter(({ endMs }) => endMs <= read.startMs);
    if (read.ids.length > 1)
      faults.push(`${read.item} is found ${read.ids.length} times: ${read.ids} (${read.operation})`);
    if (read.ids.length === 0) {
      const isBeingWritten = writes.some(({ startMs, endMs }) => startMs < read.endMs && endMs > read.startMs);
      const context = `${read.operation}${isBeingWritten ? ', while it was written' : ''}`;
      if (earlier.some(({ ids }) => ids.length > 0)) faults.push(`${read.item} is lost (${context})`);
      continue;
    }
    if (read.ids[0] !== id) faults.push(`${read.item} has id ${id} but was found with id ${read.ids[0]}`);
    if (read.version === undefined) continue;
    const versionMin = Math.max(0, ...earlier.map(({ version = 0 }) => version));
    const versionMax = Math.max(
      0,
      ...writes.filter(({ startMs }) => startMs < read.endMs).map(({ version = 0 }) => version),
    );
    if (read.version < versionMin)
      faults.push(`${read.item} is stale: version ${read.version} instead of ${versionMin} (${read.operation})`);
    if (read.version > versionMax) faults.push(`${read.item} has version ${read.version}, which was not written yet`);
  }
  return faults;
}

function findFinalFaults(observations: readonly Observation[], stored: readonly StoredItem[]): string[] {
  const writes = observations.filter(({ kind }) => kind === 'write');
  const [first] = writes;
  if (first === undefined) return [];
  const { item } = first;
  if (stored.length !== 1) return [`${item} is stored ${stored.length} times at the end`];
  const last = Math.max(0, ...writes.map(({ version = 0 }) => version));
  const { id, version = last } = stored[0] as StoredItem;
  if (id !== first.ids[0]) return [`${item} has the final id ${id}, but its write returned ${first.ids[0]}`];
  return version === last ? [] : [`${item} has the final version ${version} instead of ${last}`];
}
