/**
 * Runs the tests in the given folders or files: `node scripts/test.ts src test/e2e`. See docs/testing.md.
 *
 * --checks   also runs the type checker and the linter, in parallel
 * --only     runs only the tests whose names match this pattern
 * --record   writes how long each file took to test/durations.json and docs/testing.md
 *
 * The last line is `N passed, N failed[, N skipped]`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { startSharedPostgres } from '../test/support/shared-postgres.ts';
import { type FileTimes, planTests, recordDurations, slowest } from './test-plan.ts';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    checks: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
  },
});
const paths = positionals.length > 0 ? positionals : ['test', 'src'];
/** Max failed files that are retried. If more fail, the cause is not a busy machine. */
const retriesMax = 5;
const files = paths.flatMap((path) =>
  statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [relative('.', path)],
);

// Without this cache, each test process and each of its threads would compile the same modules.
process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/carrel-test');

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  readonly failures: Failure[];
}

interface Failure {
  /** The file that ran the test. Undefined if unknown. */
  file: string | undefined;
  readonly name: string;
}

const times: FileTimes = new Map();
const cores = Math.max(1, availableParallelism());
const startedMs = performance.now();
const cpuSecondsAtStart = machineCpuSeconds();

// One checker thread: several would use more CPU time in total, which the tests need.
const checks = flags.checks ? [check('types', ['--checkers', '1']), check('lint')] : [];
const plan = planTests(files);
const [postgres] = await Promise.all([startSharedPostgres(files), fillCompileCache()]);
// Four more processes than cores, because many tests mostly wait.
const firstRun = await runTests(plan.entries, cores + 4);
const failedChecks = (await Promise.all(checks)).filter((script) => script !== undefined);

// A test may fail only because the machine is busy, so each failed file is retried alone. If it then passes, that is reported.
const filesToRetry = [...new Set(firstRun.failures.flatMap(({ file }) => file ?? []))];
const retry =
  filesToRetry.length > 0 && filesToRetry.length <= retriesMax ? await runTests(filesToRetry, 1) : undefined;
const failuresWithoutFile = firstRun.failures.filter(({ file }) => file === undefined);
const finalFailures = retry === undefined ? firstRun.failures : [...retry.failures, ...failuresWithoutFile];
await postgres?.stop();
plan.remove();
if (flags.record) recordDurations(times);

console.log(`\nThe slowest of ${times.size} files:`);
for (const [name, time] of slowest(times)) console.log(`${formatSeconds(time)}  ${name}`);
for (const failure of retry === undefined ? [] : firstRun.failures)
  console.log(`failed at first: ${describeFailure(failure)}`);
for (const failure of finalFailures) console.log(`failed: ${describeFailure(failure)}`);
for (const script of failedChecks) console.log(`failed: npm run ${script}`);
// The whole machine's time, because some processes, such as Chromium's, outlive the process that started them.
const cpuSeconds = Math.round(machineCpuSeconds() - cpuSecondsAtStart);
const wallSeconds = Math.round((performance.now() - startedMs) / 1000);
console.log(`The machine spent ${cpuSeconds} s of CPU time in ${wallSeconds} s on ${cores} cores`);
const failed = finalFailures.length + failedChecks.length;
const passed = firstRun.passed + Math.max(0, firstRun.failures.length - finalFailures.length);
console.log(`${passed} passed, ${failed} failed${firstRun.skipped > 0 ? `, ${firstRun.skipped} skipped` : ''}`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/**
 * Loads the tests' modules without running them, so that Node's compile cache has them before the first test starts. Otherwise each
 * process would compile its test file, and load Node's TypeScript compiler for it.
 */
async function fillCompileCache(): Promise<void> {
  if (plan.entries.length <= cores) return;
  const modules = new Set([...files, ...globSync('test/**/*.ts')]);
  const imports = ['data:text/javascript,process.exit()', ...[...modules].map((name) => pathToFileURL(name).href)];
  const loader = spawn(process.execPath, ['--input-type=module'], { stdio: ['pipe', 'ignore', 'inherit'] });
  loader.stdin.end(imports.map((url) => `import '${url}';\n`).join(''));
  await once(loader, 'close');
}

function describeFailure({ file = 'unknown file', name }: Failure): string {
  return `${file}: ${name}`;
}

/** Runs the files. Does not use `forceExit`, which would lose a process's last results. A file that hangs fails by timeout. */
async function runTests(entries: readonly string[], concurrency: number): Promise<Outcome> {
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const tests = run({
    files: entries,
    concurrency,
    timeout: 600_000,
    testNamePatterns: flags.only === '' ? [] : [new RegExp(flags.only)],
  });
  tests.on('test:pass', ({ details, skip, nesting, file }) => {
    if (nesting === 0) addTime(file, details.duration_ms);
    if (details.type === 'suite') return;
    if (skip !== undefined && skip !== false) outcome.skipped += 1;
    else outcome.passed += 1;
  });
  tests.on('test:fail', ({ details, name, nesting, file }) => {
    if (nesting === 0) addTime(file, details.duration_ms);
    // A suite counts as failed only if its own hook failed, not if one of its tests did.
    const { error } = details;
    if (details.type === 'suite' && 'failureType' in error && error.failureType === 'subtestsFailed') return;
    outcome.failed += 1;
    const declaringFile = file && relative('.', file);
    outcome.failures.push({ file: files.find((each) => each === declaringFile), name });
  });
  tests.on('test:summary', ({ file, duration_ms }) => {
    if (file === undefined) return;
    // Results are reported file by file, so failures without a file come from a helper module that this file uses.
    for (const failure of outcome.failures) failure.file ??= relative('.', file);
    const batch = plan.batches.get(file);
    // A file with its own process gets the time of the whole process, including loading modules and exiting.
    if (batch === undefined) times.set(relative('.', file), duration_ms / 1000);
    for (const name of batch ?? [relative('.', file)]) console.log(`${formatSeconds(times.get(name))}  ${name}`);
  });
  const report = tests.compose(new spec());
  report.pipe(process.stdout, { end: false });
  await new Promise((ended) => report.on('end', ended));
  return outcome;
}

function addTime(file: string | undefined, durationMs: number): void {
  if (file === undefined) return;
  const name = relative('.', file);
  // A test may be declared in a helper module, which is not a test file.
  if (files.includes(name)) times.set(name, (times.get(name) ?? 0) + durationMs / 1000);
}

function formatSeconds(time = 0): string {
  return `${time.toFixed(1).padStart(6)} s`;
}

/** Runs a script of package.json and prints its output when it ends. Returns the script's name if it failed. */
async function check(script: string, args: readonly string[] = []): Promise<string | undefined> {
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise((ended) => child.on('close', ended));
  process.stdout.write(Buffer.concat(output));
  return code === 0 ? undefined : script;
}

/** Returns the CPU time that all cores have spent since the machine started, in seconds. */
function machineCpuSeconds(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0) / 1000;
}
