import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Duration of each test file in seconds, by path relative to the repository's root. */
export type FileTimes = Map<string, number>;

export interface TestPlan {
  /** Files to start in this order, each in a separate process. */
  readonly entries: readonly string[];
  /** For entries that import several test files: these files. */
  readonly batches: ReadonlyMap<string, readonly string[]>;
  remove(): void;
}

const durationsFile = 'test/durations.json';
const testingPage = 'docs/testing.md';

/** Files per process. With more, the last process would keep one core busy while the others are idle. */
const batchFiles = 26;

/** Plans the longest files first, so that no core is idle at the end. Unit tests share processes where they can. */
export function planTests(files: readonly string[]): TestPlan {
  const durations = readDurations();
  const sharedFiles = files.filter(canShareProcess).sort();
  const folder = mkdtempSync(join(tmpdir(), 'carrel-tests-'));
  const batches = new Map<string, string[]>();
  for (let start = 0; start < sharedFiles.length; start += batchFiles) {
    const names = sharedFiles.slice(start, start + batchFiles);
    const entry = join(folder, `unit-tests-${batches.size + 1}.mjs`);
    writeFileSync(entry, names.map((name) => `import '${pathToFileURL(resolve(name)).href}';\n`).join(''));
    batches.set(entry, names);
  }
  // A file whose duration is unknown may be the longest.
  const durationOf = (name: string) => durations.get(name) ?? Infinity;
  const expectedSeconds = (entry: string): number =>
    (batches.get(entry) ?? [entry]).reduce((sum, name) => sum + durationOf(name), 0);
  const separateFiles = files.filter((name) => !canShareProcess(name));
  const entries = [...batches.keys(), ...separateFiles].sort(
    (left, right) => expectedSeconds(right) - expectedSeconds(left) || left.localeCompare(right),
  );
  return { entries, batches, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Matches code that needs its own process: it changes the environment, the current folder or the umask, listens to process events,
 * has hooks around every test, or uses mocks such as fake clocks. A file can also say `// own process: <reason>`.
 */
const ownProcess =
  /\bprocess\.(chdir|on|once|emit|umask|exitCode|env\[[^\]]+\] \??\??=[^=])|delete process\.env|^(before|after)(Each)?\(|\bmock\.|^\/\/ own process: /m;

function canShareProcess(name: string): boolean {
  return name.startsWith('src/') && !ownProcess.test(readFileSync(name, 'utf8'));
}

function readDurations(): FileTimes {
  if (!existsSync(durationsFile)) return new Map();
  return new Map(Object.entries(JSON.parse(readFileSync(durationsFile, 'utf8'))));
}

/** Writes durations to test/durations.json, and the twenty longest to docs/testing.md. Files that did not run keep old values. */
export function recordDurations(times: FileTimes): void {
  const all = [...new Map([...readDurations(), ...times])]
    .filter(([name]) => name.endsWith('.test.ts') && existsSync(name))
    .sort(([left], [right]) => left.localeCompare(right))
    .map(([name, time]): [string, number] => [name, Math.round(time * 10) / 10]);
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  const rows = slowest(all).map(([name, time]) => `| ${time} | \`${name}\` |\n`);
  const table = `| seconds | file |\n|---|---|\n${rows.join('')}`;
  const page = readFileSync(testingPage, 'utf8');
  writeFileSync(testingPage, page.replace(/(?<=<!-- slowest -->\n).*(?=<!-- \/slowest -->)/s, table));
}

export function slowest(times: Iterable<[string, number]>): [string, number][] {
  return [...times].sort(([, left], [, right]) => right - left).slice(0, 20);
}
