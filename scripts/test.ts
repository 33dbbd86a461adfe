/**
 * Runs the tests in the given folders or files: `node scripts/test.ts src test/e2e`.
 * Every file runs in a process of its own; the last line is `N passed, N failed[, N skipped]`.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

/** The folders with the longest files, longest first, so that no core is without work at the end. Unit tests are short. */
const longest = ['reliability', 'security', 'fuzz', 'e2e', 'acceptance', 'conformance', 'contract', ''].map(
  (folder) => `test/${folder}`,
);

const places = process.argv.slice(2);
const files = (places.length > 0 ? places : ['test', 'src'])
  .flatMap((place) => (statSync(place).isDirectory() ? globSync(`${place}/**/*.test.ts`) : [place]))
  .sort((left, right) => turnOf(left) - turnOf(right) || left.localeCompare(right));

// Each file is a process that compiles the same modules, and so does each of its threads.
process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/carrel-test');

const count = { passed: 0, failed: 0, skipped: 0 };
const cores = Math.max(1, availableParallelism());
const startedMs = performance.now();
// Two more files than cores, because some mostly wait. Not with `forceExit`: a file's process would end before its last results
// are through the pipe, and they would be lost. A file that a failed test keeps from ending fails by its time.
const tests = run({ files, concurrency: cores + 2, timeout: 600_000 });

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
  const [cpuSeconds, seconds] = [childrenCpuSeconds(), (performance.now() - startedMs) / 1000];
  if (cpuSeconds !== undefined)
    console.log(`${cpuSeconds} s of CPU time in ${Math.round(seconds)} s on ${cores} cores`);
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
  console.log(`${count.passed} passed, ${count.failed} failed${skipped}`);
  process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;
});

function turnOf(file: string): number {
  const turn = longest.findIndex((folder) => file.startsWith(folder));
  return turn === -1 ? longest.length : turn;
}

/** Of the processes that have ended, with theirs. Only Linux tells it. */
function childrenCpuSeconds(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // Behind the name in parentheses; in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Math.round((Number(fields[13]) + Number(fields[14])) / 100);
  } catch {
    return undefined;
  }
}
