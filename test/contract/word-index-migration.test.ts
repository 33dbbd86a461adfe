import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openStorage } from '../../src/storage/open-storage.ts';
import { openDatabase } from '../../src/storage/sqlite/database.ts';
import { migrate } from '../../src/storage/sqlite/migrate.ts';
import { migrations } from '../../src/storage/sqlite/migrations.ts';
import { analysisFor } from '../../src/storage/word-analysis.ts';
import { documentTermsOf } from '../../src/words/document-terms.ts';
import { phraseQuery, plainQuery } from '../../src/words/word-query.ts';
import { temporaryFolder } from '../support/backends.ts';

/** Schema 9 had the title in front of the body, and a trigger that listed passages for embedding. */
const schemaBefore = 9;

describe('the word index of an earlier release', () => {
  const folder = temporaryFolder();

  test('finds what it found, takes new passages and lists them for embedding', async () => {
    const path = join(folder, 'before.db');
    fill(path);
    const storage = await openStorage({ backend: 'sqlite', path });
    const kb = storage.passages;
    const ids = async (query: Parameters<typeof kb.search>[0]['query']) =>
      (await kb.search({ query, limit: 10, offset: 0 })).hits.map(({ id }) => id);
    assert.deepEqual(await ids(plainQuery('lighthouses')), ['old-1']);
    assert.deepEqual(await ids(phraseQuery('storms passed')), ['old-2']);
    assert.deepEqual(await ids(phraseQuery('storm passes')), []);

    const passage = {
      id: 'new-1',
      position: 0,
      title: 'Harbour',
      headings: [],
      body: 'A second lighthouse',
      labels: [],
    };
    await kb.replace([{ parent: 'new', passages: [passage] }]);
    assert.deepEqual((await ids(plainQuery('lighthouse'))).sort(), ['new-1', 'old-1']);
    const waiting = await storage.vectors.kb.waiting({ model: 'model', limit: 10 });
    assert.deepEqual(
      waiting.map(({ text }) => text),
      ['The lighthouse is lit', 'Two storms passed', 'A second lighthouse'],
    );

    await kb.remove(['old']);
    assert.deepEqual(await ids(plainQuery('lighthouse storm')), ['new-1']);
    assert.deepEqual(await storage.check(), []);
    await storage.close();
  });
});

function fill(path: string): void {
  const database = openDatabase({ path, role: 'writer', busyTimeoutMs: 1000 });
  migrate(database, migrations.slice(0, schemaBefore));
  database.run('INSERT INTO word_analysis VALUES (?)', analysisFor(undefined, 'english').stamp);
  database.run("INSERT INTO kb_models (name, chosen) VALUES ('model', 1)");
  for (const [key, body] of [
    [1, 'The lighthouse is lit'],
    [2, 'Two storms passed'],
  ] as const) {
    const { title, heading, body: terms } = documentTermsOf({ title: 'Coast', heading: '', body });
    const streams = [title.main, title.extra, heading.main, heading.extra, terms.main, terms.extra];
    database.run(
      "INSERT INTO kb_passages (id, parent, position, title, headings, body, labels) VALUES (?, 'old', ?, 'Coast', '[]', ?, '[]')",
      ...[`old-${key}`, key, body],
    );
    database.run(
      'INSERT INTO kb_passage_terms VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[key, ...streams, title.length, heading.length, terms.length],
    );
    database.run(
      `INSERT INTO kb_passage_words (rowid, title, title_extra, heading, heading_extra, body, body_extra)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[key, ...streams],
    );
    database.run(
      `UPDATE kb_passage_statistics SET documents = documents + 1, title_length = title_length + ?,
         body_length = body_length + ?`,
      ...[title.length, terms.length],
    );
  }
  database.close();
}
