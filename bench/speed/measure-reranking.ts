import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReranker, rerankerWithoutModel } from '../../src/search/rerank/open-reranker.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { TestDocument } from '../../test/support/passages.ts';
import { openCarrelOn } from './carrel.ts';
import { createRandom } from './rows.ts';
import { measureInterleaved, type Timings } from './timings.ts';

export interface RerankingFigures {
  /** Word pieces of each passage. */
  readonly pieces: number;
  readonly without: Timings;
  readonly reranked: Timings;
  /** Process memory that loading the model adds. */
  readonly megabytes: number;
}

const passagesCount = 200;
/** Results per search. For a first page of any size up to this, 20 results are reranked. */
const limit = 10;

/** Measures the same searches without and with reranking, alternating, in short and in long passages. */
export async function measureReranking(searches: number): Promise<RerankingFigures[]> {
  const figures: RerankingFigures[] = [];
  for (const pieces of [60, 250]) {
    const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
    const storage = await createSqliteStorage({ path: join(folder, 'reranking.db'), queryTimeoutMs: 60_000 });
    const reranker = openReranker({
      enabled: 'true',
      provider: 'local',
      url: undefined,
      model: undefined,
      apiKey: undefined,
      threads: 0,
      budgetMs: 60_000,
    });
    const unranked = openCarrelOn(storage, rerankerWithoutModel());
    const ranked = openCarrelOn(storage, reranker);
    try {
      await unranked.insert(documentsOf(pieces));
      await unranked.insertVectors(passagesCount);
      await unranked.hybrid(0, limit);
      const before = process.memoryUsage.rss();
      await ranked.hybrid(0, limit);
      const megabytes = (process.memoryUsage.rss() - before) / 1024 ** 2;
      const timings = await measureInterleaved(
        { without: (number) => unranked.hybrid(number, limit), reranked: (number) => ranked.hybrid(number, limit) },
        searches,
      );
      figures.push({ pieces, ...timings, megabytes });
    } finally {
      await reranker.close();
      await unranked.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return figures;
}

/** Generates documents of words that are one word piece each. */
function documentsOf(pieces: number): TestDocument[] {
  const random = createRandom(pieces);
  const text = () => Array.from({ length: pieces }, () => words[Math.floor(random() * words.length)]).join(' ');
  return Array.from({ length: passagesCount }, (_, number) => ({
    parent: `d${number}`,
    passages: [{ id: `p${number}`, title: '', headings: [], body: text(), labels: [] }],
  }));
}

const words = (
  'time people water house school night story music paper river garden letter money winter summer doctor market train ' +
  'window street church family friend office table bridge engine island forest museum'
).split(' ');
