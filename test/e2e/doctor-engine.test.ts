import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { startFakeEngine } from '../fakes/kb-engine/start-fake-engine.ts';
import { carrelProgram, cleanEnv, makeFolder } from '../support/child-program.ts';

test('contract §9: doctor asks the kb engine at another address, and names the next step', async (t) => {
  const { origin } = await startFakeEngine(t, { apiKey: 'right' });
  const right = await engineCheck(t, { KB_ENGINE_URL: origin, KB_API_KEY: 'right' });
  assert.deepEqual([right?.ok, right?.found], [true, `${origin}: version 3.2.2, 0 documents`]);
  const wrong = await engineCheck(t, { KB_ENGINE_URL: origin, KB_API_KEY: 'wrong' });
  assert.deepEqual([wrong?.ok, wrong?.remedy], [false, "set KB_API_KEY to the engine's key"]);
  const away = await engineCheck(t, { KB_ENGINE_URL: 'http://127.0.0.1:9' });
  assert.match(away?.remedy ?? '', /start the engine/);
  assert.equal(await engineCheck(t, {}), undefined);
});

interface Check {
  name: string;
  ok: boolean;
  found: string;
  remedy?: string;
}

async function engineCheck(t: TestContext, env: Record<string, string>): Promise<Check | undefined> {
  const folder = makeFolder(t);
  const settings = { EMBEDDING_PROVIDER: 'none', KB_MCP_PORT: '0', ...env };
  const args = [carrelProgram, 'doctor', 'kb', '--json'];
  const { stdout } = spawn(process.execPath, args, { env: cleanEnv(folder, settings), cwd: folder });
  const { checks } = JSON.parse(await text(stdout)) as { checks: Check[] };
  return checks.find(({ name }) => name === 'kb engine');
}
