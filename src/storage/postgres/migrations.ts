import { contentSchema, deletedSchema, documentSchema, passageSchema } from './schema/document-schema.ts';
import { entryHistorySchema, entrySchema, fieldHashSchema } from './schema/entry-schema.ts';
import { noteSchema } from './schema/note-schema.ts';
import { sharedSchema } from './schema/shared-schema.ts';
import { tokenSchema } from './schema/token-schema.ts';
import { vectorSchema } from './schema/vector-schema.ts';
import { labelledWordsSchema, moreWordsSchema } from './schema/word-index-schema.ts';

/**
 * What brings a database from schema n to schema n + 1, at index n; the numbers are those of SQLite's steps. Steps that were
 * released are never changed; for what older programs can do after one, see `applyStep`. Identifiers are compared byte by byte (COLLATE "C"), as SQLite does.
 */
export const migrations: readonly string[] = [
  ...[firstSchema(), deletedSchema(), thirdSchema(), sharedSchema(), fifthSchema(), sixthSchema(), seventhSchema()],
];

/** The schema since which words have labels. */
export const labelledSince = 7;

/** Programs of schema 4 write labels by triggers, and find as they did. */
function seventhSchema(): string {
  return [labelledWordsSchema(), 'UPDATE carrel.schema_version SET usable_from = 4'].join('\n');
}

/** Programs of schema 4 keep the index, and find as they did. */
function sixthSchema(): string {
  return [fieldHashSchema(), 'UPDATE carrel.schema_version SET usable_from = 4'].join('\n');
}

/** Programs of schema 4 find everything but what they could not store. */
function fifthSchema(): string {
  const tables = ['note', 'context_entry', 'kb_passage'].map(moreWordsSchema);
  return [...tables, 'UPDATE carrel.schema_version SET usable_from = 4'].join('\n');
}

function thirdSchema(): string {
  return [tokenSchema(), contentSchema()].join('\n');
}

function firstSchema(): string {
  return [
    ...[noteSchema(), entrySchema(), entryHistorySchema(), documentSchema(), passageSchema(), vectorSchema()],
    // By which analysis and in which language all terms were made; see word-analysis.ts.
    'CREATE TABLE carrel.word_analysis (stamp text NOT NULL)',
  ].join('\n');
}
