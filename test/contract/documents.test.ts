import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import type { AcceptRequest } from '../../src/storage/documents/accept-job.ts';
import type { StoredDocument } from '../../src/storage/documents/document.ts';
import type { NewChunk } from '../../src/storage/documents/write-chunks.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { onEachBackend } from '../support/backends.ts';

const owner = 'test owner';
const leaseMs = 60_000;

onEachBackend('documents', (backend) => {
  let storage: Storage;
  before(async () => {
    storage = await backend.open();
  });

  const find = async (words: string, labels: string[] = []) =>
    (
      await storage.passages.search({
        query: plainQuery(words),
        filter: { labels: labels.map((label) => [label]) },
        limit: 100,
        offset: 0,
      })
    ).hits.map(({ parent, position }) => `${parent}:${position}`);

  async function addFile(text: string, given: Partial<AcceptRequest> = {}): Promise<StoredDocument> {
    const staged = await storage.originals.stage(bytesOf(text), { bytesMax: 1_000_000 });
    const accepted = await storage.ingestion.accept(request({ ...given, content: { staged } }));
    assert.equal(accepted.outcome, 'accepted');
    return ingested([text]);
  }

  async function addNote(text: string, given: Partial<AcceptRequest> = {}): Promise<StoredDocument> {
    const accepted = await storage.ingestion.accept(request({ ...given, content: noteOf(text) }));
    assert.equal(accepted.outcome, 'accepted');
    return ingested([text], 'note', { derivedTitle: true });
  }

  async function ingested(texts: string[], docType = 'text', details = {}): Promise<StoredDocument> {
    const job = await storage.ingestion.claim({ owner, leaseMs });
    assert.ok(job);
    const finished = await storage.ingestion.finish({
      ...finishing(...texts),
      id: job.id,
      docType,
      details,
    });
    assert.ok(finished.outcome === 'done');
    const document = await storage.documents.get({ id: finished.documentId });
    assert.ok(document);
    return document;
  }

  test('reads chunks in parts: from a position, by count or by length', async () => {
    const accepted = await storage.ingestion.accept(request({ content: noteOf('wren parts') }));
    assert.equal(accepted.outcome, 'accepted');
    // More than one batch.
    const texts = Array.from({ length: 1_203 }, (_, index) => `wren ${String(index).padStart(5, '0')}`);
    const { id: document } = await ingested(texts, 'note');
    const positions = async (part: object) =>
      (await storage.documents.chunks({ document, ...part })).map(({ position }) => position);
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
    assert.deepEqual(await positions({}), range(0, 1_203));
    assert.deepEqual(await positions({ from: 499, limit: 501 }), range(499, 1_000));
    assert.deepEqual(await positions({ from: 2, charsMax: 6_000 }), range(2, 602));
    assert.deepEqual(await positions({ from: 1_200, charsMax: 1 }), [1_200]);
    assert.deepEqual(await positions({ from: 1_203 }), []);
    assert.deepEqual(await positions({ limit: 0 }), []);
  });

  test('lists tags in alphabetical order, in pages', async () => {
    const names = ['parts:A', 'parts:Z', 'parts:a', 'parts:ä', 'parts:鷺'];
    await addNote('dunnock', { tags: names.toReversed() });
    await addNote('sparrow', { tags: ['parts:a'] });
    const own = async (after: string, limit?: number) =>
      (await storage.documents.tags({ after, limit })).filter(({ tag }) => tag.startsWith('parts:'));
    assert.deepEqual(
      await own('parts:'),
      names.map((tag) => ({ tag, count: tag === 'parts:a' ? 2 : 1 })),
    );
    assert.deepEqual(
      (await own('parts:Z', 2)).map(({ tag }) => tag),
      ['parts:a', 'parts:ä'],
    );
    assert.deepEqual(await own('parts:鷺'), []);
  });

  test('counts the documents of each tag that a caller may see', async () => {
    // No other test of this suite uses collections.
    await addNote('ibis', { tags: ['collection:a', 'collection', 'b', 'ä'] });
    await addNote('egret', { tags: ['collection:a', 'collection:鷺', 'b', 'ä'] });
    await addNote('stilt', { tags: ['collection:b', 'B', 'ä'] });
    const anyTags = ['collection:b', 'collection:鷺'];
    assert.deepEqual(
      await storage.documents.tags({ anyTags }),
      counted({ B: 1, b: 1, 'collection:a': 1, 'collection:b': 1, 'collection:鷺': 1, ä: 2 }),
    );
    assert.equal((await storage.documents.counts({})).collections, 3);
    assert.equal((await storage.documents.counts({ anyTags })).collections, 2);
  });

  test('replaces a document under the same id, and frees its old bytes', async () => {
    const before = await addFile('ocelot one', { tags: ['a'], sourcePath: 'cats.txt' });
    const staged = await storage.originals.stage(bytesOf('ocelot two'), { bytesMax: 1_000 });
    const replacing = { replaces: before.id, tags: ['b'], sourcePath: 'cats.txt', content: { staged } };
    assert.equal((await storage.ingestion.accept(request(replacing))).outcome, 'accepted');
    assert.deepEqual(await find('ocelot one'), [`${before.id}:0`], 'until then the old text is found');

    const job = await storage.ingestion.claim({ owner, leaseMs });
    const finished = await storage.ingestion.finish({ ...finishing('margay'), id: job?.id ?? 0 });
    assert.deepEqual(finished, { outcome: 'done', documentId: before.id, freed: sha256('ocelot one') });
    const after = await storage.documents.get({ id: before.id });
    assert.deepEqual(
      [after?.contentHash, after?.tags, after?.createdAt],
      [sha256('ocelot two'), ['a'], before.createdAt],
    );
    assert.deepEqual([after?.title, after?.chunkCount], ['About margay', 1]);
    assert.deepEqual(await find('ocelot'), []);
    assert.deepEqual(await find('margay', ['tag:a']), [`${before.id}:0`]);
    assert.equal(await storage.originals.release([sha256('ocelot one'), sha256('ocelot two')]), 1);
    assert.equal(await readAll(storage, sha256('ocelot two')), 'ocelot two');

    // A document deleted in the meantime, and content that another document has.
    await storage.documents.remove({ id: before.id });
    await storage.originals.release([sha256('ocelot two')]);
    const later = await addFile('ocelot three', { replaces: before.id });
    assert.notEqual(later.id, before.id);
    const other = await storage.originals.stage(bytesOf('ocelot three'), { bytesMax: 1_000 });
    const known = await storage.ingestion.accept(request({ replaces: 1, content: { staged: other } }));
    assert.equal(known.outcome, 'known_document');
    await storage.originals.discard(other);
  });

  test('the later of two replacements wins, in any ingestion order', async () => {
    const before = await addFile('serval one');
    const jobs: number[] = [];
    for (const text of ['lynx', 'caracal']) {
      const staged = await storage.originals.stage(bytesOf(text), { bytesMax: 1_000 });
      await storage.ingestion.accept(request({ replaces: before.id, content: { staged } }));
    }
    for (let count = 0; count < 2; count += 1) {
      jobs.push((await storage.ingestion.claim({ owner, leaseMs }))?.id ?? 0);
    }
    const [older = 0, newer = 0] = jobs.sort((a, b) => a - b);
    assert.equal((await storage.ingestion.finish({ ...finishing('caracal'), id: newer })).outcome, 'done');
    const late = await storage.ingestion.finish({ ...finishing('lynx'), id: older });
    assert.deepEqual(late, { outcome: 'superseded', documentId: before.id });
    const job = await storage.ingestion.get({ id: older });
    assert.deepEqual([job?.status, job?.errorCode], ['failed', 'superseded']);
    assert.deepEqual(await find('caracal'), [`${before.id}:0`]);
    await storage.originals.release([sha256('serval one'), sha256('lynx')]);
    assert.equal(await readAll(storage, sha256('caracal')), 'caracal');
  });

  test('reads truncated bytes again once the limit is higher', async () => {
    const bounds = { characters: 100, cpu_time: 1_000 };
    const offer = async (now: typeof bounds) => {
      const staged = await storage.originals.stage(bytesOf('a long tapir'), { bytesMax: 1_000 });
      const accepted = await storage.ingestion.accept(request({ bounds: now, content: { staged } }));
      if (accepted.outcome !== 'accepted') await storage.originals.discard(staged);
      return accepted.outcome;
    };
    const truncated = { reason: 'characters', read: 6, of: 12 };
    assert.equal(await offer(bounds), 'accepted');
    const first = await ingested(['a long'], 'text', { truncated, bounds });
    assert.equal(await offer(bounds), 'known_document');
    assert.equal(await offer({ ...bounds, cpu_time: 9_000 }), 'known_document', 'another bound than the one reached');
    assert.equal(await offer({ ...bounds, characters: 200 }), 'accepted');
    assert.equal(await offer({ ...bounds, characters: 200 }), 'known_job');
    const whole = await ingested(['a long tapir']);
    assert.deepEqual([whole.id, Object.keys(whole.details)], [first.id, ['writtenBy']]);
    assert.deepEqual(await find('tapir'), [`${first.id}:0`]);
    assert.equal(await offer({ ...bounds, characters: 900 }), 'known_document');
    assert.equal(await readAll(storage, sha256('a long tapir')), 'a long tapir');
  });

  test('finds a document by a path of the maximum length, with incompressible characters', async () => {
    const path = Array.from({ length: 1_000 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_000)));
    const sourcePath = path.join('');
    const { id } = await addFile('a far okapi', { filename: 'okapi.txt', sourcePath });
    const { documents } = await storage.documents.list({ selection: { sourcePath }, limit: 5, offset: 0 });
    assert.deepEqual(
      documents.map((each) => each.id),
      [id],
    );
  });

  test('finds a document by a word of its path, with composed or decomposed accents', async () => {
    const paths = ['/zoo/Übergehege.txt'.normalize('NFC'), '/zoo/neu/Übergehege.txt'.normalize('NFD')];
    const ids = [];
    for (const sourcePath of paths) {
      ids.push((await addFile(`an accented okapi ${sourcePath}`, { filename: 'okapi.txt', sourcePath })).id);
    }
    for (const word of ['Übergehege', 'übergehege', 'ÜBER'].flatMap((each) => [each, each.normalize('NFD')])) {
      const { documents } = await storage.documents.list({ selection: { named: [word] }, limit: 5, offset: 0 });
      assert.deepEqual(documents.map(({ id }) => id).toReversed(), ids, word);
    }
  });

  test('moving a document keeps its chunks, and changes a title that was the file name', async () => {
    const document = await addFile('a moving okapi', { filename: 'okapi.txt', sourcePath: '/a/okapi.txt' });
    const chunks = await storage.documents.chunks({ document: document.id });
    const moved = await storage.documents.move({ id: document.id, sourcePath: '/b/zoo.txt', filename: 'zoo.txt' });
    assert.deepEqual([moved?.sourcePath, moved?.filename, moved?.title], ['/b/zoo.txt', 'zoo.txt', document.title]);
    assert.deepEqual(await storage.documents.chunks({ document: document.id }), chunks);
    assert.equal(await storage.documents.move({ id: 999_999, sourcePath: 'x', filename: 'x' }), undefined);
    const { jobs } = await storage.ingestion.list({ limit: 1, offset: 0 });
    assert.deepEqual([jobs[0]?.kind, jobs[0]?.details], ['move', { source_path: '/b/zoo.txt' }]);
  });

  test('contract §6: a file becomes a document with its tags, its chunks and its bytes', async () => {
    const document = await addFile('zebra crossing', { tags: ['b', 'a'], sourcePath: 'docs/zebra.txt' });
    assert.equal(document.title, 'About zebra crossing');
    assert.deepEqual(document.tags, ['b', 'a']);
    assert.equal(document.sourcePath, 'docs/zebra.txt');
    assert.equal(document.contentHash, sha256('zebra crossing'));
    assert.equal(document.bytes, 14);
    assert.equal(document.updatedAt, undefined);
    const [only] = await storage.documents.chunks({ document: document.id });
    assert.deepEqual([only?.text, only?.metadata], ['zebra crossing', { page: 1 }]);
    assert.equal(await readAll(storage, document.contentHash), 'zebra crossing');
    assert.deepEqual(await find('zebra'), [`${document.id}:0`]);
    assert.deepEqual(await find('zebra', ['tag:a', 'tag:b', 'type:text']), [`${document.id}:0`]);
    assert.deepEqual(await find('zebra', ['tag:a', 'tag:c']), []);
    const { documents, total } = await storage.documents.list({
      selection: { sourcePath: 'docs/zebra.txt', tags: ['a', 'b'], docType: 'text' },
      limit: 10,
      offset: 0,
    });
    assert.deepEqual([documents, total], [[document], 1]);
  });

  test('returns hits with documents and neighbours, in the requested order', async () => {
    const accepted = await storage.ingestion.accept(request({ content: noteOf('five parts') }));
    assert.equal(accepted.outcome, 'accepted');
    const document = await ingested(['one', 'two', 'three', 'four', 'five']);
    const keys = (await storage.documents.chunks({ document: document.id })).map(({ key }) => key);
    const [fifth = 0, first = 0] = [keys[4], keys[0]];
    const found = await storage.documents.located({ keys: [fifth, first, 999_999], neighbours: 2 });
    assert.deepEqual(
      found.map((each) => [each.text, each.document.id, each.neighbours.map(({ text }) => text)]),
      [
        ['five', document.id, ['three', 'four']],
        ['one', document.id, ['two', 'three']],
      ],
    );
  });

  test('reports the same bytes as a known job, then as a known document', async () => {
    const first = await storage.ingestion.accept(request({ title: 'Twin', content: noteOf('twins') }));
    assert.ok(first.outcome === 'accepted');
    const again = await storage.ingestion.accept(request({ content: noteOf('twins') }));
    assert.deepEqual(again, { outcome: 'known_job', id: first.job.id, title: 'Twin' });
    const document = await ingested(['twins'], 'note');
    const later = await storage.ingestion.accept(request({ content: noteOf('twins') }));
    assert.deepEqual(later, { outcome: 'known_document', id: document.id, title: 'About twins' });
  });

  test('restores a deleted document with its id, tags, path and date', async () => {
    const file = await addFile('quoll tracks', {
      tags: ['x', 'y'],
      sourcePath: 'marsupials/quoll.txt',
      title: 'Quolls',
    });
    const note = await addNote('numbat notes');
    for (const { id } of [file, note]) await storage.documents.remove({ id, restorable: true });
    assert.deepEqual([await find('quoll'), await find('numbat')], [[], []]);
    assert.equal(await storage.originals.release([file.contentHash]), 0, 'its bytes are kept');
    for (const [before, text, type] of [
      [file, 'quoll tracks', 'text'],
      [note, 'numbat notes', 'note'],
    ] as const) {
      const accepted = await storage.documents.restore({ id: before.id });
      assert.ok(accepted.outcome === 'accepted');
      const again = await storage.documents.restore({ id: before.id });
      assert.deepEqual([again.outcome, again.outcome === 'known_job' && again.id], ['known_job', accepted.job.id]);
      const after = await ingested([text], type);
      const { id, filename, sourcePath, contentHash, bytes, tags, createdAt } = before;
      const same = { id, filename, sourcePath, contentHash, bytes, tags, createdAt };
      assert.deepEqual(pick(after, same), same);
      assert.deepEqual(await find(text), [`${before.id}:0`]);
      assert.equal((await storage.documents.restore({ id: before.id })).outcome, 'not_found', 'it is there');
    }
    assert.equal(await storage.documents.note({ id: note.id }), 'numbat notes');
    assert.equal(await readAll(storage, file.contentHash), 'quoll tracks');
  });

  test('bulk deletions can be restored, unless another document has the same content', async () => {
    const [one, two] = [await addFile('bilby one'), await addFile('bilby two')];
    const selection = { ids: [one.id, two.id] };
    const action = { kind: 'delete' } as const;
    await storage.documents.changeMany({ selection, action, percentMax: 100, tagsMax: 10, restorable: true });
    const newer = await addFile('bilby one');
    const refused = await storage.documents.restore({ id: one.id });
    assert.deepEqual(refused, { outcome: 'known_document', id: newer.id, title: newer.title });
    assert.equal((await storage.documents.restore({ id: two.id })).outcome, 'accepted');
    assert.equal((await ingested(['bilby two'])).id, two.id);
    assert.equal((await storage.documents.restore({ id: 999_999 })).outcome, 'not_found');
  });

  test('keeps the latest deleted documents up to a byte limit', async () => {
    await storage.documents.pruneDeleted({ bytesMax: 0, limit: 1_000 });
    const kept = [];
    for (const text of ['dunnart one', 'dunnart two', 'dunnart three']) {
      const document = await addFile(text);
      await storage.documents.remove({ id: document.id, restorable: true });
      kept.push(document);
    }
    const [first] = kept;
    const forgotten = await storage.documents.pruneDeleted({ bytesMax: 'dunnart two'.length * 2 + 2, limit: 1_000 });
    assert.deepEqual(forgotten, [first?.contentHash]);
    assert.equal(await storage.originals.release(forgotten), 1);
    assert.equal((await storage.documents.restore({ id: first?.id ?? 0 })).outcome, 'not_found');
    for (const limit of [1, 9]) {
      const rest = await storage.documents.pruneDeleted({ bytesMax: 0, limit });
      assert.equal(await storage.originals.release(rest), 1);
    }
  });

  test('removes bytes with the last document that has them', async () => {
    const document = await addFile('shared bytes');
    assert.equal(await storage.originals.release([document.contentHash]), 0);
    assert.equal((await storage.documents.remove({ id: document.id }))?.contentHash, document.contentHash);
    const staged = await storage.originals.stage(bytesOf('shared bytes'), { bytesMax: 100 });
    assert.equal((await storage.ingestion.accept(request({ content: { staged } }))).outcome, 'accepted');
    assert.equal(await storage.originals.release([document.contentHash]), 0, 'a waiting job has them');
    const again = await ingested(['shared bytes']);
    assert.ok(again.id > document.id, 'an id is never given twice');
    await storage.documents.remove({ id: again.id });
    assert.equal(await storage.originals.release([document.contentHash]), 1);
    assert.equal(await storage.originals.open(document.contentHash), undefined);
  });

  test('rejects bytes above the limit and stores nothing', async () => {
    await assert.rejects(storage.originals.stage(bytesOf('0123456789'), { bytesMax: 9 }), { code: 'too_large' });
  });

  test('removes only leftovers of interrupted processes', async () => {
    const kept = await addFile('to be kept');
    const staged = await storage.originals.stage(bytesOf('left behind'), { bytesMax: 100 });
    const accepted = await storage.ingestion.accept(request({ content: { staged } }));
    assert.ok(accepted.outcome === 'accepted');
    await storage.ingestion.cancel({ id: accepted.job.id });
    assert.equal(await storage.originals.sweep(), 1);
    assert.equal(await storage.originals.open(sha256('left behind')), undefined);
    assert.equal(await readAll(storage, kept.contentHash), 'to be kept');
  });

  test('returns a large file byte for byte', async () => {
    const bytes = Buffer.alloc(2_500_000, 'carrel ');
    const staged = await storage.originals.stage(inPieces(bytes, 65_536), { bytesMax: 3_000_000 });
    assert.equal((await storage.ingestion.accept(request({ content: { staged } }))).outcome, 'accepted');
    const document = await ingested(['large']);
    const original = await storage.originals.open(document.contentHash);
    assert.equal(original?.bytes, bytes.length);
    assert.equal(sha256(await collect(original?.content)), document.contentHash);
  });

  test('removes tags, then adds tags, and updates searches', async () => {
    const document = await addNote('taggable heron', { tags: ['old', 'kept'] });
    const changed = await storage.documents.changeTags({
      id: document.id,
      remove: ['old', 'absent'],
      add: ['new', 'kept'],
      tagsMax: 10,
    });
    assert.ok(typeof changed === 'object');
    assert.deepEqual(changed.tags, ['kept', 'new']);
    assert.ok(changed.updatedAt !== undefined);
    assert.equal(changed.createdAt, document.createdAt);
    assert.deepEqual(await find('heron', ['tag:old']), []);
    assert.deepEqual(await find('heron', ['tag:new', 'tag:kept']), [`${document.id}:0`]);
    const { jobs } = await storage.ingestion.list({ limit: 1, offset: 0 });
    assert.deepEqual([jobs[0]?.kind, jobs[0]?.status, jobs[0]?.documentId], ['tags', 'done', document.id]);
    assert.equal(
      await storage.documents.changeTags({ id: document.id, remove: [], add: ['x', 'y'], tagsMax: 3 }),
      'tags_full',
    );
    assert.deepEqual((await storage.documents.get({ id: document.id }))?.tags, ['kept', 'new']);
    assert.equal(await storage.documents.changeTags({ id: 999_999, remove: [], add: ['x'], tagsMax: 3 }), undefined);
  });

  test('contract §6: retags a document with many passages after one with few', async () => {
    // PostgreSQL keeps a trigger's plan for few rows; with it, retagging all of these at once exceeds the statement timeout.
    const few = await addNote('few plovers', { tags: ['old'] });
    const passages = 1_000;
    await storage.ingestion.accept(request({ tags: ['old'], content: noteOf('many plovers') }));
    const many = await ingested(Array.from({ length: passages }, (_, index) => `plover ${index}`));
    const found = async (tag: string) =>
      (
        await storage.passages.search({
          query: plainQuery('plover'),
          filter: { labels: [[`tag:${tag}`]] },
          limit: 1,
          offset: 0,
        })
      ).total;
    for (const { id } of [few, many]) {
      await storage.documents.changeTags({ id, remove: ['old'], add: ['new'], tagsMax: 10 });
    }
    assert.deepEqual([await found('old'), await found('new')], [0, passages + 1]);
  });

  test('003 Update note tool: a note is edited in place, keeps its id, date and tags, and is found by its new words', async () => {
    const note = await addNote('ostrich feathers', { tags: ['birds'] });
    const edited = await storage.documents.editNote({
      id: note.id,
      derivedTitle: 'New title',
      derivedFilename: 'New title.md',
      ...editOf('emu eggs'),
    });
    assert.ok(edited.outcome === 'edited');
    assert.equal(edited.document.id, note.id);
    assert.equal(edited.document.createdAt, note.createdAt);
    assert.ok(edited.document.updatedAt !== undefined);
    const { title, filename, tags } = edited.document;
    assert.deepEqual([title, filename, tags], ['New title', 'New title.md', ['birds']]);
    assert.equal(await storage.documents.note({ id: note.id }), 'emu eggs');
    assert.deepEqual(await find('ostrich'), []);
    assert.deepEqual(await find('emu', ['tag:birds']), [`${note.id}:0`]);
  });

  test('a failed edit leaves the note unchanged', async () => {
    const note = await addNote('first of two');
    const other = await addNote('second of two');
    const duplicate = await storage.documents.editNote({
      id: other.id,
      derivedTitle: '',
      derivedFilename: '',
      ...editOf('first of two'),
    });
    assert.deepEqual(duplicate, { outcome: 'duplicate', id: note.id, title: note.title });
    await assert.rejects(
      storage.documents.editNote({
        id: other.id,
        derivedTitle: '',
        derivedFilename: '',
        ...editOf('third'),
        chunks: [unwritable('third')],
      }),
    );
    assert.equal(await storage.documents.note({ id: other.id }), 'second of two');
    assert.deepEqual(await find('second'), [`${other.id}:0`]);
    const file = await addFile('no note');
    const refused = await storage.documents.editNote({
      id: file.id,
      derivedTitle: '',
      derivedFilename: '',
      ...editOf('y'),
    });
    assert.equal(refused.outcome, 'not_a_note');
    const unknown = await storage.documents.editNote({
      id: 999_999,
      derivedTitle: '',
      derivedFilename: '',
      ...editOf('y'),
    });
    assert.equal(unknown.outcome, 'not_found');
  });

  test('a failed write stores nothing, and its job can be finished later', async () => {
    const accepted = await storage.ingestion.accept(request({ tags: ['half'], content: noteOf('half a phalarope') }));
    assert.ok(accepted.outcome === 'accepted');
    const { id } = accepted.job;
    await storage.ingestion.claim({ owner, leaseMs });
    const before = await storage.documents.counts({});
    const chunks = [chunk('half a phalarope'), unwritable('the rest')];
    await assert.rejects(storage.ingestion.finish({ ...finishing(), chunks, id }));
    assert.deepEqual(await storage.documents.counts({}), before);
    assert.deepEqual(await find('phalarope'), []);
    assert.equal((await storage.ingestion.get({ id }))?.status, 'processing');
    const finished = await storage.ingestion.finish({ ...finishing('half a phalarope'), id });
    assert.ok(finished.outcome === 'done');
    assert.deepEqual((await storage.documents.get({ id: finished.documentId }))?.tags, ['half']);
  });

  test('deleting a document removes everything but its record', async () => {
    const document = await addNote('ephemeral mayfly', { tags: ['insects'] });
    assert.deepEqual(await storage.documents.remove({ id: document.id }), {
      id: document.id,
      title: document.title,
      contentHash: document.contentHash,
    });
    assert.equal(await storage.documents.get({ id: document.id }), undefined);
    assert.deepEqual(await storage.documents.chunks({ document: document.id }), []);
    assert.deepEqual(await find('mayfly'), []);
    assert.ok(!(await storage.documents.tags({})).some(({ tag }) => tag === 'insects'));
    assert.equal(await storage.documents.remove({ id: document.id }), undefined);
    const { jobs } = await storage.ingestion.list({ limit: 1, offset: 0 });
    assert.deepEqual(
      [jobs[0]?.kind, jobs[0]?.status, jobs[0]?.documentId, jobs[0]?.title],
      ['delete', 'done', document.id, document.title],
    );
  });
});

onEachBackend('bulk changes', (backend) => {
  let storage: Storage;
  const ids: number[] = [];
  before(async () => {
    storage = await backend.open();
    for (let index = 0; index < 10; index += 1) {
      const tags = [index % 2 === 0 ? 'even' : 'odd', ...(index < 3 ? ['low'] : [])];
      await storage.ingestion.accept(request({ tags, content: noteOf(`bulk ${index}`) }));
      const job = await storage.ingestion.claim({ owner, leaseMs });
      const finished = await storage.ingestion.finish({
        id: job?.id ?? 0,
        owner,
        title: 't',
        docType: index < 5 ? 'note' : 'text',
        contentType: 'text/plain',
        language: undefined,
        details: {},
        chunks: [chunk(`bulk ${index}`)],
      });
      assert.ok(finished.outcome === 'done');
      ids.push(finished.documentId);
    }
  });

  const bulk = { percentMax: 70, tagsMax: 5 };
  const tagsOf = async (index: number) => (await storage.documents.get({ id: ids[index] ?? 0 }))?.tags;

  test('contract §6: rejects changes above the safety percentage', async () => {
    const refused = await storage.documents.changeMany({
      ...bulk,
      selection: { fromId: ids[0], toId: ids[7] },
      action: { kind: 'delete' },
    });
    assert.deepEqual(refused, { outcome: 'too_many', matched: 8, total: 10, percent: 80 });
    assert.equal((await storage.documents.counts({})).documents, 10);
  });

  test('selects documents that meet all conditions', async () => {
    const changed = await storage.documents.changeMany({
      ...bulk,
      selection: { tags: ['even', 'low'], docType: 'note', ids: ids.slice(0, 5) },
      action: { kind: 'tags', add: ['both'], remove: ['even'] },
    });
    assert.ok(changed.outcome === 'changed');
    assert.deepEqual([changed.matched, changed.changed, changed.total], [2, 2, 10]);
    assert.deepEqual(await tagsOf(0), ['low', 'both']);
    assert.deepEqual(await tagsOf(1), ['odd', 'low']);
    assert.deepEqual(await tagsOf(4), ['even']);
    const job = await storage.ingestion.get({ id: changed.jobId });
    assert.deepEqual([job?.kind, job?.status, job?.details['changed']], ['bulk_tags', 'done', 2]);
  });

  test('replaces tags, or none if one document would have too many', async () => {
    const selection = { fromId: ids[8], toId: ids[9] };
    const action = { kind: 'set_tags', tags: ['p', 'q'] } as const;
    const changed = await storage.documents.changeMany({ ...bulk, selection, action });
    assert.ok(changed.outcome === 'changed' && changed.changed === 2);
    assert.deepEqual(await tagsOf(9), ['p', 'q']);
    const full = await storage.documents.changeMany({
      ...bulk,
      selection: { fromId: ids[6], toId: ids[9] },
      action: { kind: 'tags', add: ['r', 's', 't', 'u'], remove: [] },
    });
    assert.equal(full.outcome, 'tags_full');
    assert.deepEqual(await tagsOf(6), ['even']);
  });

  test('replaces all collections or all other tags, leaving the rest in place', async () => {
    const selection = { ids: ids.slice(6, 7) };
    const change = async (action: object, more: object = {}) => {
      const given = { kind: 'tags' as const, add: [], remove: [], ...action };
      const changed = await storage.documents.changeMany({
        ...bulk,
        selection: { ...selection, ...more },
        action: given,
        percentMax: 100,
      });
      return [changed.outcome === 'changed' && changed.changed, await tagsOf(6)];
    };
    const before = { kind: 'set_tags', tags: ['x', 'collection:a', 'y', 'collection:b'] } as const;
    await storage.documents.changeMany({ ...bulk, selection, action: before });
    assert.deepEqual(await change({ replaces: 'non_collections', add: ['z', 'y'] }), [
      1,
      ['collection:a', 'y', 'collection:b', 'z'],
    ]);
    assert.deepEqual((await change({ replaces: 'non_collections', add: ['y', 'z'] }))[0], 0);
    const own = { anyTags: ['collection:b', 'collection:c'] };
    const moved = { replaces: 'collections', add: ['collection:c'], remove: ['z'] };
    assert.deepEqual(await change(moved, own), [1, ['collection:a', 'y', 'collection:c']]);
    // A document keeps collections that the caller may not see.
    const others = { kind: 'set_tags', tags: ['w', 'collection:b'] };
    assert.deepEqual(await change(others, own), [1, ['collection:a', 'w', 'collection:b']]);
    assert.deepEqual(await change({ replaces: 'collections', add: ['collection:d'] }), [1, ['w', 'collection:d']]);
    await storage.documents.changeMany({ ...bulk, selection, action: { kind: 'set_tags', tags: ['even'] } });
  });

  test('releases the bytes of many documents together, and keeps those in use', async () => {
    const staged = await storage.originals.stage(bytesOf('kept'), { bytesMax: 1_000 });
    await storage.ingestion.accept(request({ content: { staged } }));
    // More than a transaction may lock.
    const hashes = Array.from({ length: 1_200 }, (_, index) => sha256(`gone ${index}`));
    assert.equal(await storage.originals.release([...hashes, sha256('kept'), sha256('kept')]), hashes.length);
    assert.equal(await readAll(storage, sha256('kept')), 'kept');
  });

  test('a bulk deletion removes chunks and tags', async () => {
    const changed = await storage.documents.changeMany({
      ...bulk,
      selection: { tags: ['odd'] },
      action: { kind: 'delete' },
    });
    assert.ok(changed.outcome === 'changed');
    assert.equal(changed.contentHashes.length, 4);
    const { bytes, ...counts } = await storage.documents.counts({});
    assert.deepEqual(counts, { documents: 6, chunks: 6, collections: 0 });
    assert.ok(bytes > 0);
    assert.ok(!(await storage.documents.tags({})).some(({ tag }) => tag === 'odd'));
  });
});

function counted(counts: Readonly<Record<string, number>>): object[] {
  return Object.entries(counts).map(([tag, count]) => ({ tag, count }));
}

function request(given: Partial<AcceptRequest> & Pick<AcceptRequest, 'content'>): AcceptRequest {
  return {
    filename: 'file.txt',
    title: undefined,
    docType: undefined,
    sourcePath: undefined,
    contentType: 'text/plain',
    tags: [],
    ...given,
  };
}

function noteOf(text: string) {
  return { note: text, hash: sha256(text), bytes: Buffer.byteLength(text) };
}

function editOf(text: string) {
  return { text, contentHash: sha256(text), bytes: Buffer.byteLength(text), chunks: [chunk(text)] };
}

function chunk(text: string): NewChunk {
  return { text, headings: [], metadata: { page: 1 } };
}

/** A chunk whose write fails, after its document was written. */
function unwritable(text: string): NewChunk {
  const metadata: Record<string, unknown> = {};
  metadata['itself'] = metadata;
  return { ...chunk(text), metadata };
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let first = 0; first < bytes.length; first += size) yield bytes.subarray(first, first + size);
}

async function readAll(storage: Storage, hash: string): Promise<string> {
  return (await collect((await storage.originals.open(hash))?.content)).toString();
}

async function collect(content: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content ?? []) parts.push(part);
  return Buffer.concat(parts);
}

function finishing(...texts: string[]) {
  return {
    owner,
    title: `About ${texts[0]}`,
    docType: 'text',
    contentType: 'text/plain',
    language: 'en',
    details: {},
    chunks: texts.map(chunk),
  };
}

/** The fields of `from` that are also in `fields`. */
function pick(from: object, fields: object): object {
  return Object.fromEntries(Object.entries(from).filter(([name]) => name in fields));
}
