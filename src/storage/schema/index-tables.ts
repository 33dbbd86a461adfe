import { check, optional, type Table, t } from './table.ts';

export interface Corpus {
  readonly name: 'context' | 'kb';
  /** The table whose rows own the vectors. */
  readonly owners: string;
  /** Returns the SQL condition for rows whose text is searched. */
  readonly isLive: (row: string) => string;
  /** When one of these columns changes, the row's vectors are outdated. */
  readonly columns: readonly string[];
}

export const corpora: readonly Corpus[] = [
  {
    name: 'context',
    owners: 'context_entries',
    isLive: (row) => `${row}.deleted_at IS NULL`,
    columns: ['text_hash', 'deleted_at'],
  },
  { name: 'kb', owners: 'kb_passages', isLive: () => 'TRUE', columns: ['title', 'headings', 'body'] },
];

/** Embedding models. A model without a name is being dropped. The model with the highest `chosen` was chosen last. */
const modelTable: Table = {
  name: 'vector_models',
  columns: {
    key: t.key,
    corpus: t.exactText,
    name: optional(t.exactText),
    dimensions: optional(check(t.integer, '? > 0')),
    chosen: t.number,
  },
  indexes: { vector_models_name: { columns: 'corpus, name', isUnique: true } },
};

/** Returns the tables of a corpus: texts without vectors, vectors, and removals that in-memory indexes must apply. */
function vectorTables({ name, owners }: Corpus): Table[] {
  return [
    {
      name: `${name}_unembedded`,
      columns: {
        model: t.reference(modelTable.name),
        owner: t.reference(owners),
        claimed_by: optional(t.exactText),
        claimed_until: optional(t.number),
      },
      primaryKey: ['model', 'owner'],
      check: '(claimed_by IS NULL) = (claimed_until IS NULL)',
      indexes: { [`${name}_unembedded_owner`]: { columns: 'owner' } },
    },
    {
      name: `${name}_vectors`,
      columns: {
        key: t.key,
        owner: t.reference(owners),
        model: t.reference(modelTable.name),
        start_at: t.integer,
        end_at: t.integer,
        vector: t.vector,
      },
      indexes: {
        [`${name}_vectors_owner`]: { columns: 'owner, model' },
        [`${name}_vectors_model`]: { columns: 'model, key' },
      },
    },
    { name: `${name}_vector_removals`, columns: { number: t.key, vector: t.number } },
  ];
}

/** The word indexes, and the table whose texts each of them covers. */
export const wordOwners = { note: 'notes', context_entry: 'context_entries', kb_passage: 'kb_passages' } as const;

/** Returns the table with the terms of each text, in order. The `_extra` columns contain other forms, such as stems. */
function termTable([name, owner]: readonly [string, string]): Table {
  return {
    name: `${name}_terms`,
    columns: {
      key: t.reference(owner),
      title: t.text,
      title_extra: t.text,
      heading: t.text,
      heading_extra: t.text,
      body: t.text,
      body_extra: t.text,
      title_length: t.integer,
      heading_length: t.integer,
      body_length: t.integer,
    },
    primaryKey: ['key'],
  };
}

/** Every word that ever occurred in an index. Used to correct misspelt words of a query. `place` is only a row key. */
const vocabularyTable: Table = {
  name: 'word_vocabulary',
  columns: { place: t.key, word_index: t.exactText, term: t.text },
  indexes: { word_vocabulary_term: { columns: 'term', method: 'hash' } },
};

/** The tables for vectors and words. */
export const indexTables: Table[] = [
  modelTable,
  ...corpora.flatMap(vectorTables),
  ...Object.entries(wordOwners).map(termTable),
  vocabularyTable,
];
