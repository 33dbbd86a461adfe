import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Passage } from '../../src/storage/passages/passage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { WindowVector } from '../../src/storage/vectors/vector.ts';

/** A passage as tests write it. Each label becomes a tag of its document; filters match it as `tag:LABEL`. */
export interface TestPassage extends Omit<Passage, 'position'> {
  readonly vectors?: { readonly model: string; readonly windows: readonly WindowVector[] } | undefined;
}

export interface TestDocument {
  readonly parent: string;
  readonly passages: readonly TestPassage[];
}

export interface PassageWriter {
  /** Replaces each document's passages. */
  replace(documents: readonly TestDocument[]): Promise<void>;
  remove(parents: readonly string[]): Promise<void>;
  /** Returns the ids that the test gave to the passages of these hits. */
  idsOf(hits: readonly { readonly parent: string; readonly position: number }[]): string[];
}

const leaseMs = 60_000;

/** The running claim. Claims wait for each other, so that each writer gets its own job. */
let claiming: Promise<unknown> = Promise.resolve();

async function claimNew(
  { ingestion }: Storage,
  title: string,
  tags: readonly string[],
): Promise<{ id: number; owner: string }> {
  const hash = randomBytes(32).toString('hex');
  const accepted = await ingestion.accept({
    filename: 'test.txt',
    title,
    docType: 'text',
    sourcePath: undefined,
    contentType: 'text/plain',
    tags,
    content: { note: hash, hash, bytes: hash.length },
  });
  assert.ok(accepted.outcome === 'accepted');
  const { id } = accepted.job;
  const skippedOwners: string[] = [];
  for (;;) {
    const claimant = `test ${randomBytes(8).toString('hex')}`;
    const job = await ingestion.claim({ owner: claimant, leaseMs });
    assert.ok(job, 'the job was claimed by another process');
    if (job.id === id) {
      // Gives back claimed jobs that a test had left in the queue.
      if (skippedOwners.length > 0) await ingestion.giveBack({ owners: skippedOwners, crashed: false });
      return { id, owner: claimant };
    }
    skippedOwners.push(claimant);
  }
}

/**
 * Creates a writer that stores passages as the engine does: as chunks of ingested documents, with vectors added later. All
 * passages of a stored document share title and tags, so passages with different ones become separate documents.
 */
export function passageWriter(storage: Storage): PassageWriter {
  const documents = new Map<string, number[]>();
  const testIds = new Map<string, string>();

  return {
    async replace(newDocuments) {
      for (const { parent, passages } of newDocuments) {
        await remove([parent]);
        const groups = Object.values(Object.groupBy(passages, ({ title, labels }) => JSON.stringify([title, labels])));
        const ids: number[] = [];
        documents.set(parent, ids);
        for (const group of groups) ids.push(await ingest(group ?? []));
      }
    },
    remove,
    idsOf: (hits) => hits.map(({ parent, position }) => testIds.get(`${parent} ${position}`) ?? ''),
  };

  async function remove(parents: readonly string[]): Promise<void> {
    for (const parent of parents) {
      for (const id of documents.get(parent) ?? []) await storage.documents.remove({ id });
      documents.delete(parent);
    }
  }

  async function ingest(passages: readonly TestPassage[]): Promise<number> {
    const [{ title, labels } = { title: '', labels: [] }] = passages;
    const job = claiming.then(() => claimNew(storage, title, labels));
    claiming = job.catch(() => {});
    const chunks = passages.map(({ body, headings }) => ({ text: body, headings, metadata: {} }));
    const finished = await storage.ingestion.finish({
      ...(await job),
      title,
      docType: 'text',
      contentType: 'text/plain',
      language: undefined,
      details: {},
      chunks,
    });
    assert.ok(finished.outcome === 'done');
    const document = finished.documentId;
    passages.forEach(({ id }, position) => {
      testIds.set(`${document} ${position}`, id);
    });
    if (passages.some(({ vectors }) => vectors !== undefined)) await embed(document, passages);
    return document;
  }

  async function embed(document: number, passages: readonly TestPassage[]): Promise<void> {
    const { kb } = storage.vectors;
    const chunks = await storage.documents.chunks({ document });
    const models = new Set(passages.flatMap(({ vectors }) => vectors?.model ?? []));
    for (const model of models) {
      await kb.choose({ model });
      const modelChunks = chunks.flatMap(({ key, position }) => {
        const { vectors } = passages[position] ?? {};
        return vectors?.model === model ? [{ owner: key, windows: vectors.windows }] : [];
      });
      const pending = await kb.waiting({ model, limit: chunks.length, owners: modelChunks.map((each) => each.owner) });
      const hashes = new Map(pending.map((text) => [text.owner, text.textHash]));
      const texts = modelChunks.map((text) => ({ ...text, textHash: hashes.get(text.owner) ?? '' }));
      assert.equal(await kb.put({ model, texts }), texts.length);
    }
  }
}

/**
 * Adds a text, then turns the oldest queued job into a document. That job may have come from another process. Returns the
 * document's id, or undefined if other processes have claimed all jobs.
 */
export async function ingestText(storage: Storage, text: string, chunkCount = 1): Promise<number | undefined> {
  const hash = randomBytes(32).toString('hex');
  const common = { title: 'title', docType: 'text', contentType: 'text/plain' };
  await storage.ingestion.accept({
    ...common,
    filename: 'made.txt',
    sourcePath: undefined,
    tags: ['label', `label of ${hash}`],
    content: { note: text, hash, bytes: text.length },
  });
  const job = await storage.ingestion.claim({ owner: hash, leaseMs });
  if (job === undefined) return undefined;
  const chunk = { text: job.note ?? '', headings: ['heading'], metadata: {} };
  const finished = await storage.ingestion.finish({
    ...common,
    id: job.id,
    owner: hash,
    language: undefined,
    details: {},
    chunks: Array.from({ length: chunkCount }, () => chunk),
  });
  assert.ok(finished.outcome === 'done');
  return finished.documentId;
}
