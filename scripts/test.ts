/**
 * Runs the tests in the given folders or files: `node scripts/test.ts src test/e2e`.
 * Every file runs in a process of its own; the last line is `N passed, N failed[, N skipped]`.
 */
import { globSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const places = process.argv.slice(2);
const files = (places.length > 0 ? places : ['src', 'test'])
  .flatMap((place) => (statSync(place).isDirectory() ? globSync(`${place}/**/*.test.ts`) : [place]))
  .sort();

const count = { passed: 0, failed: 0, skipped: 0 };
// Not with `forceExit`: a file's process would end before its last results are through the pipe, and they would be lost. A
// file that a failed test keeps from ending fails by its time.
const tests = run({ files, concurrency: Math.max(1, availableParallelism()), timeout: 600_000 });

tests.on('test:pass', (event) => {
  if (event.details.type === 'suite') return;
  if (event.skip !== undefined && event.skip !== false) count.skipped += 1;
  else count.passed += 1;
});
tests.on('test:fail', (event) => {
  if (event.details.type !== 'suite') count.failed += 1;
});

const failures: string[] = [];
tests.on('test:fail', (event) => {
  if (event.details.type !== 'suite') failures.push(`${event.file ?? ''}: ${event.name}`);
});

const report = tests.compose(new spec());
report.pipe(process.stdout, { end: false });
report.on('end', () => {
  for (const failure of failures) console.log(`failed: ${failure}`);
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
  console.log(`${count.passed} passed, ${count.failed} failed${skipped}`);
  process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;
});
