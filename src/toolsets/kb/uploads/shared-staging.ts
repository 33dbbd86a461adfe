import { type SharedStore, withLease } from '../../../base/shared-store.ts';
import { readManifest, type Staging } from './staging.ts';

const kind = 'upload';
const manifestPart = 0;
/** Kind of the lease that a process holds during submission. It expires independently of the upload. */
const leaseKind = 'upload handed over';
const firstChunkPart = 10;

/** Max interval at which an upload's lifetime is extended while its bytes arrive. */
const touchMs = 10_000;

/** Stores uploads in the database, so that one process can start and another finish them. Idle uploads expire there. */
export function createSharedStaging(shared: SharedStore, { idleMs }: { idleMs: number }): Staging {
  const chunkPart = (id: string, index: number) => ({ kind, id, part: firstChunkPart + index });
  const touch = (id: string): Promise<void> => shared.touch({ kind, id }, idleMs);

  return {
    async save(manifest) {
      await shared.put({ kind, id: manifest.id, part: manifestPart }, Buffer.from(JSON.stringify(manifest)), idleMs);
    },
    async writeChunk(id, index, content) {
      const part = chunkPart(id, index);
      if (content instanceof Uint8Array) {
        const isFirst = await shared.add(part, content, idleMs);
        await touch(id);
        return isFirst ? content.length : undefined;
      }
      // An upload is not idle while bytes arrive.
      const touching = setInterval(() => void touch(id).catch(() => {}), Math.min(touchMs, idleMs / 3)).unref();
      try {
        return await shared.addStream(part, content, idleMs);
      } finally {
        clearInterval(touching);
        await touch(id);
      }
    },
    readChunk: async (id, index) => (await shared.read(chunkPart(id, index))) ?? Buffer.alloc(0),
    async *content(id, indexes) {
      for (const index of indexes) yield* shared.stream(chunkPart(id, index));
    },
    dropChunks: (id, indexes) =>
      shared.remove(
        { kind, id },
        indexes.map((index) => firstChunkPart + index),
      ),
    touch,
    remove: (id) => shared.remove({ kind, id }),
    async find(id) {
      const [bytes, parts] = await Promise.all([
        shared.read({ kind, id, part: manifestPart }),
        shared.list({ kind, ids: [id] }),
      ]);
      const manifest = readManifest(bytes?.toString());
      const chunks = parts.filter(({ part }) => part >= firstChunkPart);
      return manifest && { manifest, chunks: new Map(chunks.map((each) => [each.part - firstChunkPart, each.bytes])) };
    },
    idleTimes: async () => [],
    shared: {
      async manifests() {
        const all = await shared.readAll({ kind, part: manifestPart });
        return all.flatMap((content) => readManifest(content.toString()) ?? []);
      },
      // If the lease is lost, at worst the engine gets the same bytes twice and reports a duplicate.
      exclusively: (id, signal, run) =>
        withLease(shared, { kind: leaseKind, id }, run, { signal, renew: () => touch(id) }),
    },
  };
}
