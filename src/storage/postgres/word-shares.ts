import type { MonotonicClock } from '../../base/sliding-window.ts';
import { numberOf, optionalTextOf } from '../rows.ts';
import type { Connections } from './connections.ts';

/**
 * The share of documents that have each of the commoner words. To count them takes as long as to find them all; ranking needs
 * to know about how many there are.
 */
export interface WordShares {
  /** By term, as far as they were looked at. */
  of(index: string): ReadonlyMap<string, number>;
  /** Has documents looked at where there are many, and those seen before are too few, too many or too old. Nobody has to wait for that. */
  refresh(index: string, documents: number): Promise<void>;
}

/** In fewer documents words are counted fast enough. */
const manyDocuments = 10_000;

/** Documents that are looked at, and bytes of their words: half a second of the database's time. */
const sampleMax = { documents: 20_000, bytes: 32 * 1024 * 1024 };

/** Of those that are looked at, the fewest that tell how many have a word. */
const seenMin = 20;

/** How many times as many documents there have to be, or as few, for another look. */
const changed = 1.5;

/** After which there is another look in any case: documents may be others, and as many. */
const keptMs = 600_000;

export function createWordShares(
  connections: Connections,
  { documentsMin = manyDocuments, clock = () => performance.now() }: WordSharesOptions = {},
): WordShares {
  const kept = new Map<string, Kept>();
  const looking = new Map<string, Promise<void>>();
  return {
    of: (index) => kept.get(index)?.shares ?? none,
    async refresh(index, documents) {
      const known = kept.get(index);
      if (documents < documentsMin) kept.delete(index);
      if (documents < documentsMin || (known && isFresh(known, documents, clock()))) return;
      if (!looking.has(index)) looking.set(index, keep(index, documents));
      await looking.get(index);
    },
  };

  async function keep(index: string, documents: number): Promise<void> {
    // If it fails, what was known is kept until the next look.
    const shares = await look(index, documents).catch(() => kept.get(index)?.shares ?? none);
    kept.set(index, { documents, shares, at: clock() });
    looking.delete(index);
  }

  async function look(index: string, documents: number): Promise<ReadonlyMap<string, number>> {
    const row = await connections.read(async (statements) => {
      const [size = {}] = await statements.query(`SELECT pg_table_size('carrel.${index}_words') AS bytes`);
      const share = Math.min(1, sampleMax.documents / documents, sampleMax.bytes / numberOf(size, 'bytes'));
      // Of the same table, the same rows are taken each time.
      const [found = {}] = await statements.query(
        `WITH s AS MATERIALIZED (
           SELECT words FROM carrel.${index}_words TABLESAMPLE SYSTEM ($1) REPEATABLE (1)), seen AS (
           SELECT term, count(*) AS documents FROM s, unnest(tsvector_to_array(s.words)) AS term
           GROUP BY term HAVING count(*) >= ${seenMin})
         SELECT (SELECT count(*) FROM s) AS sampled, string_agg(term, ' ') AS terms,
           string_agg(documents::text, ' ') AS seen FROM seen`,
        [100 * share],
      );
      return found;
    });
    const sampled = Math.max(1, numberOf(row, 'sampled'));
    const seen = (optionalTextOf(row, 'seen') ?? '').split(' ');
    const terms = (optionalTextOf(row, 'terms') ?? '').split(' ');
    return new Map(terms.map((term, place) => [term, Number(seen[place]) / sampled]));
  }
}

export interface WordSharesOptions {
  readonly documentsMin?: number;
  readonly clock?: MonotonicClock;
}

interface Kept {
  readonly documents: number;
  readonly shares: ReadonlyMap<string, number>;
  readonly at: number;
}

function isFresh(known: Kept, documents: number, now: number): boolean {
  const isAsMany = documents < known.documents * changed && documents * changed > known.documents;
  return isAsMany && now - known.at < keptMs;
}

const none: ReadonlyMap<string, number> = new Map();
