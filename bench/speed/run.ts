/**
 * Measures ingestion and search at scale, compared with raw SQLite FTS5 and sqlite-vec on the same rows in the same run.
 *
 *     npm run bench:speed                      # 1,000, 10,000 and 100,000 passages: a few minutes
 *     npm run bench:speed -- --million         # and 1,000,000
 *     npm run bench:speed -- --sizes 10000 --searches 100
 *     npm run bench:speed -- --cpu             # CPU time of the process, for a busy machine
 *     npm run bench:speed -- --postgres 50000  # only compares PostgreSQL and SQLite, with this many passages
 *         --keep FOLDER     # keeps the data there, and on the server that DATABASE_URL names, for the next run
 *         --vectors FOLDER  # imitates the vectors that bench:quality cached in the folder
 *     npm run bench:speed -- --reranking       # only the time that reranking adds to a search
 *
 * Prints Markdown, and exits with 1 if a target is missed at 100,000.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measurePostgres } from './measure-postgres.ts';
import { measureReranking } from './measure-reranking.ts';
import { measureSize, type SizeFigures } from './measure-size.ts';
import {
  comparisonTable,
  filterTable,
  ingestTable,
  loadTable,
  rerankingTable,
  searchTable,
  targetsOf,
  targetTable,
} from './report.ts';
import { countCpuTime } from './timings.ts';
import { imitateModel } from './vectors.ts';

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    searches: { type: 'string', default: '200' },
    million: { type: 'boolean', default: false },
    cpu: { type: 'boolean', default: false },
    postgres: { type: 'string' },
    keep: { type: 'string' },
    vectors: { type: 'string' },
    reranking: { type: 'boolean', default: false },
  },
});
const sizes = options.sizes.split(',').map(Number);
if (options.cpu) countCpuTime();
if (options.vectors !== undefined) imitateModel(options.vectors);
if (options.million) sizes.push(1_000_000);

const load = loadavg()[0] ?? 0;
console.log(
  `Node ${process.versions.node}, ${process.arch}, ${availableParallelism()} cores, load ${load.toFixed(1)} at the start.\n`,
);
if (options.postgres !== undefined) {
  const comparison = await measurePostgres(Number(options.postgres), Number(options.searches), options.keep);
  console.log([loadTable(comparison), comparisonTable(comparison), filterTable(comparison.filters)].join('\n'));
  process.exit();
}
if (options.reranking) {
  console.log(rerankingTable(await measureReranking(Number(options.searches))));
  process.exit();
}
const figures: SizeFigures[] = [];
for (const passages of sizes) {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  try {
    figures.push(await measureSize(passages, Number(options.searches), folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
console.log(ingestTable(figures));
console.log(searchTable(figures));
const targetSize = figures.find(({ passages }) => passages === 100_000);
if (targetSize !== undefined) {
  const targets = targetsOf(targetSize);
  console.log(targetTable(targets));
  process.exitCode = targets.every(({ isReached }) => isReached) ? 0 : 1;
}
