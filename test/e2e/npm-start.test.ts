import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanEnv, makeFolder } from '../support/child-program.ts';
import { watchText } from '../support/watch-text.ts';

const root = join(import.meta.dirname, '../..');

/**
 * `npm start` rebuilds dist/, which other tests run, so this test uses a copy. It contains what Docker sends to the build,
 * which must suffice.
 */
function copyBuildContext(folder: string): void {
  const sent = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') && line !== '!models' ? [line.slice(1)] : []));
  for (const name of sent) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  }
  for (const name of ['node_modules', 'models']) symlinkSync(join(root, name), join(folder, name));
}

test('contract §9: npm start builds from Docker’s build context and serves, and SIGTERM to npm ends the server', async (t) => {
  const folder = makeFolder(t);
  copyBuildContext(folder);
  const npm = spawn('npm', ['start'], {
    cwd: folder,
    env: cleanEnv(join(folder, 'data'), { CARREL_PORT: '0' }),
    // A separate process group, so that a server that outlives npm ends with the test.
    detached: true,
  });
  t.after(() => {
    try {
      process.kill(-(npm.pid ?? 0), 'SIGKILL');
    } catch {
      // Nothing is left running.
    }
  });
  const stderr = watchText(npm.stderr);
  const exited = once(npm, 'exit');
  const [, url = ''] = await stderr.waitForOutput(/^carrel: listening on (\S+)$/m);
  const health = new URL('/health', url);
  assert.equal((await fetch(health)).status, 200);

  npm.kill('SIGTERM');
  await exited;
  await assert.rejects(fetch(health), 'the server has ended with npm');
  assert.doesNotMatch(stderr.text(), /npm warn/i);
});
