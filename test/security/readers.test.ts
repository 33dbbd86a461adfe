import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { networkBarrier, startReader } from '../../src/documents/start-reader.ts';
import { serveTcp } from '../fakes/loopback-server.ts';
import { makeFolder } from '../support/child-program.ts';

test('code in the process that reads documents reads no file of the user, writes none, starts nothing and connects nowhere', async (t) => {
  const home = makeFolder(t);
  mkdirSync(join(home, '.ssh'));
  writeFileSync(join(home, '.ssh', 'id_ed25519'), 'a private key');
  let connections = 0;
  const { port } = await serveTcp(t, () => {
    connections += 1;
  });
  process.env['CARREL_PROBE_SECRET'] = 'of the server';
  t.after(() => delete process.env['CARREL_PROBE_SECRET']);
  const probe = new URL('../support/reader-probe.ts', import.meta.url);
  const reader = startReader(probe, [home, String(port)], []);
  t.after(() => reader.kill('SIGKILL'));
  const [{ connects, ...found }] = await once(reader, 'message');
  assert.deepEqual(found, {
    ...{ ownProgram: true, read: false, list: false, proc: false },
    ...{ write: false, start: false, addon: false, environment: [] },
  });
  assert.equal(existsSync(join(home, 'planted')), false);
  if (networkBarrier() === undefined) t.diagnostic('neither this system nor this Node can keep it off the network');
  else assert.deepEqual([connects, connections], [false, 0]);
});
