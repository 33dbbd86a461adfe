import { numberOf } from '../rows.ts';
import type { Connections } from './connections.ts';
import type { WordShares } from './word-shares.ts';

/**
 * Has the database look at tables again that have grown much since it last did: by what it knew when they were small it reads
 * all of them and sorts. It does so by itself too, but looks for such tables once a minute.
 */
export interface FreshStatistics {
  /** To be told of every text that is stored. */
  added(index: string, documents: number): void;
  /** After each transaction: only now can the texts be seen. Nothing waits for what it does. */
  committed(): void;
}

/** Texts after which it is asked how much the tables have grown. */
const askedEvery = 1_000;

/** How many times as large they have become. */
const grown = 2;

/**
 * By the word index that grows with them. Of the words themselves only the number of rows is needed: what can be known of
 * their distribution takes longest to find out and changes no plan.
 */
const tablesOf: Readonly<Record<string, string>> = {
  context_entry: `carrel.context_entries (key, thread_id, source, content_type, created_at, updated_at, deleted_at),
    carrel.context_tags, carrel.context_fields (entry, path, member, kind, head, number),
    carrel.context_entry_terms (key), carrel.context_entry_words (key)`,
  kb_passage: `carrel.kb_passages (key, id, parent, position, labels), carrel.kb_passage_terms (key),
    carrel.kb_passage_words (key), carrel.kb_vectors (key, owner, model)`,
};

/** `shares` are looked at again too, so that they are known when somebody searches. */
export function createFreshStatistics(connections: Connections, shares: WordShares): FreshStatistics {
  const added = new Map<string, number>();
  const running = new Set<string>();
  return {
    added(index, documents) {
      added.set(index, (added.get(index) ?? 0) + documents);
    },
    committed() {
      for (const [index, documents] of added) {
        const tables = tablesOf[index];
        if (tables === undefined || documents < askedEvery || running.has(index)) continue;
        added.set(index, 0);
        running.add(index);
        refresh(index, tables)
          // Whoever adds the next ones tries again.
          .catch(() => {})
          .finally(() => running.delete(index));
      }
    },
  };

  /** Several processes may find that it is time; one that finds another at it leaves it at that. */
  async function refresh(index: string, tables: string): Promise<void> {
    const documents = await connections.alone(async (statements) => {
      const [row = {}] = await statements.query(
        `SELECT greatest(c.reltuples, 0) AS known, (SELECT sum(documents) FROM carrel.${index}_statistics) AS documents
         FROM pg_class c WHERE c.oid = 'carrel.${index}_words'::regclass`,
      );
      const documents = numberOf(row, 'documents');
      if (documents >= grown * numberOf(row, 'known')) await statements.query(`ANALYZE (SKIP_LOCKED) ${tables}`);
      return documents;
    });
    await shares.refresh(index, documents);
  }
}
