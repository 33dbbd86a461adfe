import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { version } from '../base/package-info.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-compiled-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const program = join(folder, 'program.cjs');

/** What a process says that loads the program, and whether it then asks to keep the code. */
function start(dataDir: string, keeps: boolean): string {
  const script = `
    import { loadProgram } from './src/app/compiled-code.ts';
    const url = new URL(${JSON.stringify(`file://${program}`)});
    const { exports, keepCode } = loadProgram(url, { dataDir: ${JSON.stringify(dataDir)}, purpose: 'serve' });
    ${keeps ? `keepCode(${JSON.stringify(dataDir)});` : ''}
    console.log(exports.say());`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: new URL('../..', import.meta.url),
    env: {},
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return stdout.trim();
}

function say(word: string): void {
  writeFileSync(program, `// ${word}\nexports.say = () => "${word} – " + require('node:path').basename(programUrl);`);
}

test('compiled code is kept where only its owner can write, used as it is, and made again if it or the program is another', () => {
  const dataDir = join(folder, 'data');
  const cache = join(dataDir, 'cache');
  const kept = join(cache, `code-${version}`, 'serve');
  say('one');
  mkdirSync(dataDir, { mode: 0o700 });
  assert.equal(start(dataDir, false), 'one – program.cjs');
  assert.deepEqual(readdirSync(dataDir), [], 'a start that may yet be refused writes nothing');

  assert.equal(start(dataDir, true), 'one – program.cjs');
  assert.deepEqual([statSync(cache).mode & 0o777, statSync(kept).mode & 0o777], [0o700, 0o600]);
  mkdirSync(join(cache, 'code-0.0.0'));
  const first = statSync(kept);
  assert.equal(start(dataDir, false), 'one – program.cjs');
  assert.equal(statSync(kept).ino, first.ino, 'it was taken, so that there was nothing to keep');

  const broken = readFileSync(kept);
  broken[broken.length - 20] = (broken[broken.length - 20] ?? 0) ^ 0xff;
  writeFileSync(kept, broken);
  assert.equal(start(dataDir, false), 'one – program.cjs');
  assert.notDeepEqual(readFileSync(kept), broken);
  assert.deepEqual(readdirSync(cache), [`code-${version}`], 'that of other versions is removed');

  say('two');
  assert.equal(start(dataDir, false), 'two – program.cjs', 'the same length is not the same program');

  const shipped = `${program}.code`;
  writeFileSync(shipped, readFileSync(kept));
  const other = join(folder, 'other');
  assert.equal(start(other, true), 'two – program.cjs');
  assert.equal(existsSync(other), false, 'what is shipped is taken, and need not be kept');
  rmSync(shipped);
});

test('a data folder that cannot be written stops nothing', () => {
  say('one');
  const file = join(folder, 'file');
  writeFileSync(file, '');
  assert.equal(start(file, true), 'one – program.cjs');
});
