import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startResearch } from './research-fixture.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/research.md'), 'utf8');
const { carrel, site } = await startResearch();

/** The page's blocks in this language, with the reader's addresses replaced by ours. */
function blocks(language: string): string[] {
  const found = [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``, 'g'))].map(([, code = '']) => code);
  return found.map((code) =>
    code
      .replaceAll(/http:\/\/(?:localhost|127\.0\.0\.1):3001/g, carrel.origin)
      .replaceAll('"url":"https://docs.python.org/3/tutorial/"', `"url":"${site.origin}/article"`),
  );
}

test('T167: every curl call on the page works as written', async () => {
  const calls = blocks('sh')
    .flatMap((block) => block.split(/\n\n(?=curl)/))
    .filter((call) => call.startsWith('curl'));
  assert.equal(calls.length, 4);
  for (const call of calls) {
    const { stdout } = await promisify(execFile)('sh', ['-c', call]);
    const answer: { result?: Record<string, unknown> } = JSON.parse(stdout);
    assert.ok(answer.result, stdout);
    if (call.includes('list_notes')) assert.equal(answer.result['total_count'], 1);
  }
});

test('T167: the program on the page works as written', async () => {
  const [program = ''] = blocks('js');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', `${program}\nprocess.exit()`],
    {
      cwd: root,
    },
  );
  assert.match(stdout, /Python Overview/);
});
