import { contentSchema, deletedSchema, documentSchema, passageSchema } from './schema/document-schema.ts';
import { entryHistorySchema, entrySchema } from './schema/entry-schema.ts';
import { noteSchema } from './schema/note-schema.ts';
import { tokenSchema } from './schema/token-schema.ts';
import { vectorSchema } from './schema/vector-schema.ts';

/**
 * What only PostgreSQL needs: a table for what processes keep in common, one for texts of very many words, an index of hashes,
 * one of words with labels.
 */
const nothing = '';

/**
 * What brings a database from schema n to schema n + 1, at index n. Steps that were released are never changed; one that is
 * wrong is put right by a later one. A change of the analysis (src/words) needs none; see stores/words/word-analysis.ts.
 */
export const migrations: readonly string[] = [
  firstSchema(),
  deletedSchema(),
  thirdSchema(),
  nothing,
  nothing,
  nothing,
  nothing,
];

function thirdSchema(): string {
  return [tokenSchema(), contentSchema()].join('\n');
}

function firstSchema(): string {
  return [
    ...[noteSchema(), entrySchema(), entryHistorySchema(), documentSchema(), passageSchema(), vectorSchema()],
    // By which analysis and in which language all terms were made; see word-analysis.ts.
    'CREATE TABLE word_analysis (stamp TEXT NOT NULL) STRICT',
  ].join('\n');
}
