import { type Corpus, corpora, type wordOwners } from './index-tables.ts';
import { createTable, type Table, t } from './table.ts';
import { firstSettings, tables } from './tables.ts';

/** The columns of an FTS5 index. FTS5 encodes the first column most compactly, and the body has the most terms. */
export const indexedColumns = 'body, body_extra, title, title_extra, heading, heading_extra, labels';

/**
 * Number of segments at which FTS5 starts to merge them, a small part with each write. At three times this number, a write waits
 * for the whole merge. More segments make bulk writes faster and searches slower.
 */
const segments: Readonly<Record<keyof typeof wordOwners, number>> = { note: 8, context_entry: 8, kb_passage: 16 };

/** Number of documents and total lengths per index. */
const statistics: Table = {
  name: 'word_statistics',
  columns: {
    word_index: t.exactText,
    documents: t.number,
    title_length: t.number,
    heading_length: t.number,
    body_length: t.number,
  },
  primaryKey: ['word_index'],
};

export const sqliteSchema: string = [
  ...[...tables, statistics].map((table) => createTable('sqlite', table)),
  `INSERT INTO settings VALUES ('${firstSettings.join("', '")}');`,
  ...corpora.map(vectorTriggers),
  ...Object.entries(segments).map(wordIndex),
].join('\n');

/**
 * Creates an FTS5 index over terms and labels, with its statistics. A trigger updates both when terms are removed. Added terms need
 * no trigger, because Carrel writes to all tables itself. A trigger would make FTS5 write each text as a separate segment.
 *
 * The tokenizer splits the analysed terms at spaces; `tokenchars` are the three punctuation marks that terms can contain. A
 * label is also a token: `#`, which no term begins with, followed by the label's bytes in hex.
 */
function wordIndex([name, segmentsMax]: readonly [string, number]): string {
  const old = indexedColumns.replaceAll(/\b(?=\w)/g, 'old.');
  const set = (option: string, value: number) =>
    `INSERT INTO ${name}_words (${name}_words, rank) VALUES ('${option}', ${value});`;
  return `
  ALTER TABLE ${name}_terms ADD COLUMN labels TEXT NOT NULL DEFAULT '';
  CREATE VIRTUAL TABLE ${name}_words USING fts5 (
    ${indexedColumns}, content = '${name}_terms', content_rowid = 'key', tokenize = "ascii tokenchars '.+#'"
  );
  ${set('hashsize', 8 * 1024 * 1024)} ${set('automerge', segmentsMax)} ${set('crisismerge', 3 * segmentsMax)}
  INSERT INTO word_statistics VALUES ('${name}', 0, 0, 0, 0);
  CREATE TRIGGER ${name}_terms_removed AFTER DELETE ON ${name}_terms BEGIN
    INSERT INTO ${name}_words (${name}_words, rowid, ${indexedColumns}) VALUES ('delete', old.key, ${old});
    UPDATE word_statistics SET documents = documents - 1,
      title_length = title_length - old.title_length,
      heading_length = heading_length - old.heading_length,
      body_length = body_length - old.body_length WHERE word_index = '${name}';
  END;`;
}

/** Creates triggers that queue texts for embedding and record removed vectors. `writeChunks` queues new passages. */
function vectorTriggers({ name, owners, isLive, columns }: Corpus): string {
  const enqueue = `INSERT INTO ${name}_unembedded (model, owner)
      SELECT m.key, new.key FROM vector_models m WHERE m.corpus = '${name}' AND m.name IS NOT NULL AND ${isLive('new')};`;
  const added = `CREATE TRIGGER ${name}_text_added AFTER INSERT ON ${owners} BEGIN ${enqueue} END;`;
  return `
  CREATE TRIGGER ${name}_vector_removed AFTER DELETE ON ${name}_vectors
    WHEN (SELECT name FROM vector_models WHERE key = old.model) IS NOT NULL BEGIN
    INSERT INTO ${name}_vector_removals (vector) VALUES (old.key);
  END;
  ${name === 'context' ? added : ''}
  CREATE TRIGGER ${name}_text_changed AFTER UPDATE OF ${columns.join(', ')} ON ${owners}
    WHEN ${columns.map((column) => `old.${column} IS NOT new.${column}`).join(' OR ')} BEGIN
    DELETE FROM ${name}_vectors WHERE owner = new.key;
    DELETE FROM ${name}_unembedded WHERE owner = new.key;
    ${enqueue}
  END;`;
}
