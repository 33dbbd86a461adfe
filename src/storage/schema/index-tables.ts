import { check, optional, type Table, t } from './table.ts';

export interface Corpus {
  readonly name: 'context' | 'kb';
  /** The table of the owners. */
  readonly owners: string;
  /** Condition on a row: its text is searched. */
  readonly isLive: (row: string) => string;
  /** The columns that vectors are made from, or that decide whether the row is live. */
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

/** A model without a name is being dropped. */
const modelTable: Table = {
  name: 'vector_models',
  columns: {
    key: t.key,
    corpus: t.name,
    name: optional(t.name),
    dimensions: optional(check(t.integer, '? > 0')),
    chosen: t.number,
  },
  indexes: { vector_models_name: { columns: 'corpus, name', isUnique: true } },
};

/** Vectors, the texts that need theirs, and a list of removals for in-memory indexes. */
function vectorTables({ name, owners }: Corpus): Table[] {
  return [
    {
      name: `${name}_unembedded`,
      columns: {
        model: t.reference(modelTable.name),
        owner: t.reference(owners),
        claimed_by: optional(t.name),
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

/** The word indexes and the tables they belong to. */
export const wordOwners = { note: 'notes', context_entry: 'context_entries', kb_passage: 'kb_passages' } as const;

/** The analysed terms of each text, in order. */
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

/** Every word that was ever in a text of an index, for correcting misspelt ones. */
const vocabularyTable: Table = {
  name: 'word_vocabulary',
  columns: { place: t.key, word_index: t.name, term: t.text },
  indexes: { word_vocabulary_term: { columns: 'term', method: 'hash' } },
};

/** Vectors and words. */
export const indexTables: Table[] = [
  modelTable,
  ...corpora.flatMap(vectorTables),
  ...Object.entries(wordOwners).map(termTable),
  vocabularyTable,
];
