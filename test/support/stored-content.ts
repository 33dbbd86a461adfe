import { createHash } from 'node:crypto';
import type { Storage } from '../../src/storage/storage.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { passageWriter } from './passages.ts';

/** Stores `count` items of every kind. */
export async function fillStorage(storage: Storage, count: number): Promise<void> {
  const image = { data: new Uint8Array([0, 1, 0x5c, 0x0a, 0xff]), mimeType: 'image/png', metadata: { alt: 'é' } };
  const common = {
    threadId: 't',
    source: 'user',
    metadata: { z: 1.5, a: [null, 'x\ty\\'] },
    summary: undefined,
  } as const;
  const entries = Array.from({ length: count }, (_, index) => ({
    ...common,
    text: `entry ${index} about harbours 港 \\N \t "quoted"\r\n😀`,
    tags: ['b', `tag${index % 3}`],
    images: index === 0 ? [image] : [],
  }));
  const [, second] = await storage.entries.store({ entries });
  if (second !== undefined) await storage.entries.remove({ ids: [second.id], dryRun: false });
  await storage.vectors.context.choose({ model: 'm' });
  const [pendingText] = await storage.vectors.context.waiting({ model: 'm', limit: 1 });
  if (pendingText !== undefined) {
    const windows = [{ start: 0, end: 5, vector: new Float32Array([0.5, -1, 0]) }];
    const { owner, textHash } = pendingText;
    await storage.vectors.context.put({ model: 'm', texts: [{ owner, textHash, windows }] });
  }
  for (let index = 0; index < count; index += 1) {
    const note = { title: `note ${index}`, content: `lighthouse number ${index}`, tags: ['n', `k${index % 2}`] };
    await storage.notes.save({ ...note, sourceUrls: ['https://example.org/?q=a'] });
  }
  const removedNote = await storage.notes.save({ title: 'gone', content: 'lighthouse', tags: ['n'], sourceUrls: [] });
  await storage.notes.remove({ id: removedNote.id });
  await passageWriter(storage).replace(
    Array.from({ length: count }, (_, index) => ({
      parent: `document ${index}`,
      passages: [0, 1].map((position) => ({
        id: `${index}-${position}`,
        title: 'Ships',
        headings: ['One', 'Two "2"'],
        labels: ['x', 'y'],
        body: `passage ${index} of a harbour`,
      })),
    })),
  );
  const staged = await storage.originals.stage(bytesOf(original), { bytesMax: 10_000_000 });
  await storage.ingestion.accept({
    filename: 'a.bin',
    title: 'An original',
    docType: undefined,
    sourcePath: '/a.bin',
    tags: ['t'],
    contentType: 'application/octet-stream',
    content: { staged },
  });
}

/** An original file that is stored in several pieces. */
const original = Buffer.alloc(1_100_000, 'a\\b\n\0');

async function* bytesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function readOriginal(storage: Storage): Promise<string | undefined> {
  const opened = await storage.originals.open(createHash('sha256').update(original).digest('hex'));
  if (opened === undefined) return undefined;
  const hash = createHash('sha256');
  for await (const part of opened.content) hash.update(part);
  return hash.digest('hex');
}

/** Returns everything that is in a storage, for comparison with another. */
export async function contentOf(storage: Storage): Promise<unknown> {
  const page = { limit: 1000, offset: 0 };
  const { notes } = await storage.notes.list(page);
  return {
    notes: await Promise.all(notes.map(({ id }) => storage.notes.get(id))),
    found: (await storage.notes.list({ query: 'lighthouse', tags: ['k1'], ...page })).notes,
    entries: await storage.entries.list({ filter: {}, ...page, images: true, explain: false }),
    vectors: await storage.vectors.context.after({ model: 'm', after: 0, limit: 100 }),
    state: await storage.vectors.context.state({ model: 'm' }),
    // Omits `index`, which depends on timing.
    models: (await storage.vectors.context.models()).map(({ index: _, ...model }) => model),
    jobs: await storage.ingestion.list({ limit: 100, offset: 0 }),
    original: await readOriginal(storage),
    passages: await storage.passages.get((await storage.vectors.kb.matching({})).toSorted((a, b) => a - b)),
    hits: await storage.passages.search({ query: plainQuery('harbour'), filter: { labels: [['tag:x']] }, ...page }),
  };
}
