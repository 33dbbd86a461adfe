import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { loadRoleConfig, prepareRole } from '../../../src/app/program.ts';
import { roles } from '../../../src/app/roles.ts';
import { startFakeFess } from '../../fakes/fess/start-fake-fess.ts';
import { carrelProgram } from '../../support/child-program.ts';
import { until } from '../../support/pause.ts';
import { startStdioClient } from '../../support/stdio-client.ts';
import { verifies } from '../../support/verifies.ts';
import {
  connect,
  dataOf,
  documentAt,
  documentUri,
  finance,
  makeHome,
  openWorld,
  type World,
  wholeFile,
} from './bridge.ts';

const token = 'k7-token-of-the-sales-team-0123456789';
const tokens = { [token]: ['Rsales', 'Rguest'], 'only-admin-0123456789': ['Radmin-api'] };
const docId = documentUri.split('/').at(-1) ?? '';

const config = { contentFetch: { allowPrivateNetworkTargets: true } };

/** Gives Fess a document of the sales team, and one that the team must not see. */
function setRestricted({ fess, site }: World): void {
  const restricted = documentAt(`${site.url}/page.html`, {
    roles: ['Rsales'],
    title: 'For sales',
    content: 'pipeline figures',
  });
  fess.setDocuments([restricted, { ...restricted, docId: 'd'.repeat(32), roles: ['Rguest', 'DRsales'] }]);
}

async function foundBy({ peer }: World) {
  const { results } = dataOf(await peer.call('search', { query: 'pipeline' })) as { results: { doc_id: string }[] };
  const listed = (await peer.request('resources/list')).result as { resources: unknown[] };
  const read = await peer.request('resources/read', { uri: `${documentUri}/content` });
  return { ids: results.map((hit) => hit.doc_id), listed: listed.resources.length, read };
}

test('documents of a role are unknown without a token', async (t) => {
  const guest = await openWorld(t, { fess: { tokens }, config });
  setRestricted(guest);
  const theirs = await foundBy(guest);
  assert.deepEqual([theirs.ids, theirs.listed, theirs.read.error?.code], [['d'.repeat(32)], 2, -32_002]);
});

for (const version of ['15.4', '15.8'] as const) {
  describe(`Fess ${version}`, () => {
    const owner = wholeFile();
    let withToken: World;
    before(async () => {
      withToken = await openWorld(owner, {
        version,
        fess: { tokens },
        config: { ...config, fessAccessToken: token },
        args: ['--debug'],
      });
      setRestricted(withToken);
    });

    test('documents of a role are found and read with the token', async () => {
      const mine = await foundBy(withToken);
      assert.deepEqual([mine.ids, mine.listed, mine.read.error], [[docId], 2, undefined]);
    });

    verifies('000 §11 secrets', 'sends the token to Fess with every request, and to no other server', async () => {
      for (const [tool, args] of Object.entries({
        suggest: { prefix: 'f' },
        popular_words: {},
        list_labels: {},
        health: {},
      })) {
        await withToken.peer.call(tool, args);
      }
      await withToken.peer.call('read', { docId });
      const sent = new Set(withToken.fess.requests.map(({ headers }) => headers.authorization));
      assert.deepEqual([...sent], [`Bearer ${token}`]);
      assert.ok(withToken.site.requests.length > 0);
      for (const { headers } of withToken.site.requests) assert.equal(headers.authorization, undefined);
      assert.ok(!JSON.stringify(withToken.site.requests.map(({ headers }) => headers)).includes(token));
      // A document on Fess's own host is fetched like any other.
      withToken.fess.setDocuments([documentAt(`${withToken.fess.url}/`, { roles: ['Rsales'] })]);
      const before = withToken.fess.requests.length;
      await withToken.peer.call('read', { docId });
      const fetched = withToken.fess.requests.slice(before).find(({ path }) => path === '/');
      assert.deepEqual([fetched?.method, fetched?.headers.authorization], ['GET', undefined]);
    });

    verifies('000 §11 secrets', 'no log, debug log or message contains the token', () => {
      const folder = join(withToken.home, '.mcp-feiss', 'log');
      const logs = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
      const said = [...logs, withToken.peer.program.stderrText(), JSON.stringify(withToken.peer.messages)].join('');
      assert.ok(said.length > 500);
      assert.ok(!said.includes(token));
    });

    test('reports a rejected token to the caller and, at start, to the operator', async (t) => {
      const { peer, home } = await openWorld(t, {
        version,
        fess: { tokens },
        config: { fessAccessToken: 'wrong-0123456789' },
      });
      const { error } = await peer.call('search', { query: 'test' });
      assert.deepEqual([error?.data?.['fault'], error?.data?.['httpStatus']], ['refused_token', 401]);
      assert.match(error?.message ?? '', /fessAccessToken/);
      const readLog = () => readFileSync(join(home, '.mcp-feiss', 'log', 'server.log'), 'utf8');
      // The bridge checks its token in parallel with the first calls.
      await until(() => readLog().includes('Fess rejects the access token'));
      assert.ok(!(readLog() + JSON.stringify(peer.messages)).includes('wrong-0123456789'));
    });
  });
}

test('recognizes a rejected token behind status 500, as in 15.7', async (t) => {
  const { peer, home, fess } = await openWorld(t, {
    version: '15.8',
    fess: { tokens, wrongTokenStatus: 500 },
    config: { fessAccessToken: 'wrong-0123456789' },
  });
  const { error } = await peer.call('search', { query: 'test' });
  assert.deepEqual([error?.data?.['fault'], error?.data?.['httpStatus']], ['refused_token', 500]);
  const readLog = () => readFileSync(join(home, '.mcp-feiss', 'log', 'server.log'), 'utf8');
  await until(() => readLog().includes('Fess rejects the access token'));
  fess.setFault({ kind: 'error', status: 500, path: '/search' });
  const failed = await peer.call('search', { query: 'test' });
  assert.equal(
    failed.error?.data?.['fault'],
    'server_failed',
    'a failure with and without the token is not about the token',
  );
});

test('FESS_ACCESS_TOKEN wins over the file, for carrel fess and carrel serve', async (t) => {
  const fess = await startFakeFess({ version: '15.4', tokens });
  t.after(() => fess.close());
  const home = makeHome(t, { fessBaseUrl: fess.url, domain: finance, fessAccessToken: 'only-admin-0123456789' });
  for (const args of [['fess'], ['serve', '--toolsets', 'fess']]) {
    fess.requests.length = 0;
    const client = startStdioClient(carrelProgram, args, { HOME: home, FESS_ACCESS_TOKEN: token });
    await client.handshake('2025-03-26');
    await client.request(1, 'tools/call', { name: 'fess_finance_list_labels', arguments: {} });
    await client.end();
    assert.deepEqual([...new Set(fess.requests.map(({ headers }) => headers.authorization))], [`Bearer ${token}`]);
    assert.ok(!client.program.stderrText().includes(token));
  }
  const role = roles['fess'] ?? assert.fail();
  const env = { HOME: home, FESS_ACCESS_TOKEN: 'two words' };
  await assert.rejects(
    async () => loadRoleConfig(await prepareRole(role, {}, env), {}, env),
    ({ message }: Error) => /FESS_ACCESS_TOKEN must be printable ASCII/.test(message) && !message.includes('two words'),
  );
});

verifies('000 §11 secrets', 'uses a login in fessBaseUrl and never shows it', async (t) => {
  const fess = await startFakeFess({ version: '15.4' });
  t.after(() => fess.close());
  const { host } = new URL(fess.url);
  const withLogin = { fessBaseUrl: `http://bridge:very%20secret@${host}`, domain: finance };
  const peer = await connect(t, 'stdio', makeHome(t, withLogin), ['--debug']);
  await peer.call('health');
  const login = Buffer.from('bridge:very secret').toString('base64');
  assert.equal(fess.requests.at(-1)?.headers.authorization, `Basic ${login}`);
  const said = peer.program.stderrText() + JSON.stringify(peer.messages);
  for (const leak of ['very secret', 'very%20secret', login]) assert.ok(!said.includes(leak));
});
