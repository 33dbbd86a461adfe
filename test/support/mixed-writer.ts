/**
 * Writes notes, passages with vectors, context entries and their vectors until it is killed: `mixed-writer.ts <file>`.
 * Prints a line for each write that was acknowledged, and one before each removal begins:
 *
 *     note <id> . | document <id> . | entry <id> . | removing <id> . | removed <id> .
 */
import { randomUUID } from 'node:crypto';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';

const path = process.argv[2] ?? '';
const model = 'made';
/** Process ids are reused. */
const run = randomUUID();
const storage = await createSqliteStorage({ path });
await storage.vectors.context.choose(model);
const say = (line: string) => process.stdout.write(`${line}\n`);
say('ready');

for (let count = 0; ; count += 1) {
  const text = `written by ${process.pid} number ${count} ${'padding '.repeat((count * 37) % 400)}`;
  await Promise.all([saveNote(text, count), saveEntry(text, count), embedEntries(), saveDocument(text, count)]);
}

async function saveNote(content: string, count: number): Promise<void> {
  const tags = [`tag${count % 5}`, 'killed'];
  const note = await storage.notes.save({
    title: `note ${count}`,
    content,
    tags,
    sourceUrls: ['https://example.org/'],
  });
  say(`note ${note.id} .`);
}

async function saveEntry(text: string, count: number): Promise<void> {
  const entry = { threadId: `t${count % 3}`, source: 'user', text, metadata: { count }, summary: undefined } as const;
  const [stored] = await storage.entries.store({ entries: [{ ...entry, tags: ['killed'], images: [] }] });
  if (stored !== undefined) say(`entry ${stored.id} .`);
}

async function embedEntries(): Promise<void> {
  const waiting = await storage.vectors.context.waiting({ model, limit: 3 });
  const texts = waiting.map(({ owner, textHash, text }) => ({ owner, textHash, windows: [windowOf(text)] }));
  await storage.vectors.context.put({ model, texts });
}

/** Every fourth time enough documents that the helper thread tokenises them. Every third document is removed again. */
async function saveDocument(body: string, count: number): Promise<void> {
  const documents = Array.from({ length: count % 4 === 1 ? 40 : 1 }, (_, at) =>
    documentOf(`${run}-${count}-${at}`, body),
  );
  await storage.passages.replace(documents);
  for (const { parent } of documents) say(`document ${parent} .`);
  if (count % 3 !== 0) return;
  for (const { parent } of documents) say(`removing ${parent} .`);
  await storage.passages.remove(documents.map(({ parent }) => parent));
  for (const { parent } of documents) say(`removed ${parent} .`);
}

function documentOf(parent: string, body: string) {
  const passages = [0, 1].map((position) => ({
    id: `${parent}-${position}`,
    position,
    title: 'title',
    headings: ['heading'],
    body,
    labels: ['label', `label of ${parent}`],
    vectors: { model, windows: [windowOf(body)] },
  }));
  return { parent, passages };
}

function windowOf(text: string) {
  return { start: 0, end: text.length, vector: new Float32Array([1, text.length, 0.5, 0]) };
}
