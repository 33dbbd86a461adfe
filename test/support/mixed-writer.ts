/**
 * Writes notes, documents, context entries and their vectors until it is killed: `mixed-writer.ts <file>`.
 * Prints a line after each acknowledged write, and one before each removal:
 *
 *     note <id> . | document <id> . | entry <id> . | removing <id> . | removed <id> .
 */
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { ingestText } from './passages.ts';

const path = process.argv[2] ?? '';
const model = 'made';
const storage = await createSqliteStorage({ path });
await storage.vectors.context.choose({ model });
await storage.vectors.kb.choose({ model });
const print = (line: string) => process.stdout.write(`${line}\n`);
print('ready');

for (let count = 0; ; count += 1) {
  const text = `written by ${process.pid} number ${count} ${'padding '.repeat((count * 37) % 400)}`;
  await Promise.all([saveNote(text, count), saveEntry(text, count), embedTexts(), saveDocument(text, count)]);
}

async function saveNote(content: string, count: number): Promise<void> {
  const tags = [`tag${count % 5}`, 'killed'];
  const note = await storage.notes.save({
    title: `note ${count}`,
    content,
    tags,
    sourceUrls: ['https://example.org/'],
  });
  print(`note ${note.id} .`);
}

async function saveEntry(text: string, count: number): Promise<void> {
  const entry = { threadId: `t${count % 3}`, source: 'user', text, metadata: { count }, summary: undefined } as const;
  const [stored] = await storage.entries.store({ entries: [{ ...entry, tags: ['killed'], images: [] }] });
  if (stored !== undefined) print(`entry ${stored.id} .`);
}

async function embedTexts(): Promise<void> {
  for (const vectors of [storage.vectors.context, storage.vectors.kb]) {
    const pending = await vectors.waiting({ model, limit: 3 });
    const texts = pending.map(({ owner, textHash, text }) => ({ owner, textHash, windows: [windowOf(text)] }));
    await vectors.put({ model, texts });
  }
}

/** Saves a document. Removes every third one again. */
async function saveDocument(body: string, count: number): Promise<void> {
  const id = await ingestText(storage, body, 2);
  if (id === undefined) return;
  print(`document ${id} .`);
  if (count % 3 !== 0) return;
  print(`removing ${id} .`);
  await storage.documents.remove({ id });
  print(`removed ${id} .`);
}

function windowOf(text: string) {
  return { start: 0, end: text.length, vector: new Float32Array([1, text.length, 0.5, 0]) };
}
