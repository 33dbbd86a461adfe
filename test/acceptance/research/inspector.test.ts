import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { makeFolder, sourceCacheEnv } from '../../support/child-program.ts';
import { startResearch } from './research-fixture.ts';

const { carrel } = await startResearch();
const inspector = join(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

test('the Inspector drives carrel research over HTTP', async (t) => {
  const home = makeFolder(t);
  const inspect = async (...args: string[]): Promise<Record<string, unknown>> => {
    const where = ['--server-url', carrel.url, '--transport', 'http'];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [inspector, '--cli', '--format', 'json', '-q', ...args, ...where],
      { env: { PATH: process.env['PATH'] ?? '', HOME: home, ...sourceCacheEnv } },
    );
    return JSON.parse(stdout).result;
  };
  const { tools } = (await inspect('--method', 'tools/list', '--strict')) as { tools: { name: string }[] };
  assert.equal(tools.length, 7);
  const given = ['title=From the Inspector', 'content=Some inspected words.', 'tags=["x"]'];
  const args = given.flatMap((arg) => ['--tool-arg', arg]);
  const { structuredContent } = await inspect('--method', 'tools/call', '--tool-name', 'save_note', ...args);
  assert.deepEqual((structuredContent as { note: { tags: string[] } }).note.tags, ['x']);
});
