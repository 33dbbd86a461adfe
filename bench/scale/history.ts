/**
 * One answer that a client got. A thing is an entry, note or document that one client writes several times and all clients
 * read. Clients repeat a write until it is acknowledged.
 */
export interface Observed {
  readonly thing: string;
  readonly kind: 'write' | 'read';
  /** The operation, such as `add` or `hybrid`. */
  readonly by: string;
  /** When the call was sent and when its answer arrived, by a clock that all clients share. */
  readonly startMs: number;
  readonly endMs: number;
  /** For a write, the returned id. For a read, one id per hit: two hits mean that the thing is stored twice. */
  readonly ids: readonly string[];
  /** The version written or seen; undefined if an answer does not say. */
  readonly version: number | undefined;
}

/** The final state of a thing. */
export interface StoredThing {
  readonly thing: string;
  readonly id: string;
  readonly version: number | undefined;
}

/**
 * Checks that answers are linearizable. If a version was acknowledged or seen before a call was sent, the call returns that
 * version or a newer one, exactly once. No call returns a version that nobody has written.
 */
export function faultsIn(history: readonly Observed[], stored: readonly StoredThing[]): string[] {
  const things = Map.groupBy(history, ({ thing }) => thing);
  const storedByThing = Map.groupBy(stored, ({ thing }) => thing);
  const faults = [...things].flatMap(([thing, observed]) => [
    ...faultsInReads(observed),
    ...faultsInFinalState(observed, storedByThing.get(thing) ?? []),
  ]);
  for (const thing of storedByThing.keys())
    if (!things.has(thing)) faults.push(`${thing} exists, but no write was acknowledged`);
  return faults;
}

function faultsInReads(observed: readonly Observed[]): string[] {
  const writes = observed.filter(({ kind }) => kind === 'write');
  const id = writes[0]?.ids[0];
  const faults = writes
    .filter(({ ids }) => ids[0] !== id)
    .map(({ thing, ids }) => `${thing} is stored twice: ${id} and ${ids}`);
  for (const read of observed.filter(({ kind }) => kind === 'read')) {
    const before = observed.filter(({ endMs }) => endMs <= read.startMs);
    if (read.ids.length > 1) faults.push(`${read.thing} is found ${read.ids.length} times: ${read.ids} (${read.by})`);
    if (read.ids.length === 0) {
      const during = writes.some(({ startMs, endMs }) => startMs < read.endMs && endMs > read.startMs);
      const how = `${read.by}${during ? ', while it was written' : ''}`;
      if (before.some(({ ids }) => ids.length > 0)) faults.push(`${read.thing} is lost (${how})`);
      continue;
    }
    if (read.ids[0] !== id) faults.push(`${read.thing} is ${id} and is found as ${read.ids[0]}`);
    if (read.version === undefined) continue;
    const versionMin = Math.max(0, ...before.map(({ version = 0 }) => version));
    const versionMax = Math.max(
      0,
      ...writes.filter(({ startMs }) => startMs < read.endMs).map(({ version = 0 }) => version),
    );
    if (read.version < versionMin)
      faults.push(`${read.thing} is stale: version ${read.version} instead of ${versionMin} (${read.by})`);
    if (read.version > versionMax)
      faults.push(`${read.thing} has version ${read.version}, and nobody has written it yet`);
  }
  return faults;
}

function faultsInFinalState(observed: readonly Observed[], stored: readonly StoredThing[]): string[] {
  const writes = observed.filter(({ kind }) => kind === 'write');
  const [first] = writes;
  if (first === undefined) return [];
  const { thing } = first;
  if (stored.length !== 1) return [`${thing} is stored ${stored.length} times at the end`];
  const last = Math.max(0, ...writes.map(({ version = 0 }) => version));
  const { id, version = last } = stored[0] as StoredThing;
  if (id !== first.ids[0]) return [`${thing} has the id ${id} at the end and was ${first.ids[0]}`];
  return version === last ? [] : [`${thing} has version ${version} at the end instead of ${last}`];
}
