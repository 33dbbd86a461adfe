import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { makeFolder } from '../support/child-program.ts';
import { interpolate, readComposeFile } from '../support/compose-file.ts';
import { until } from '../support/pause.ts';
import { serverObstacle, startRealPostgres } from '../support/postgres.ts';
import { exchange, openSession, type RawSession } from '../support/raw-http.ts';
import { watchText } from '../support/watch-text.ts';
import { type ComposeNetwork, createComposeNetwork, networkObstacle } from './compose-network.ts';
import { type Image, layOutImage } from './image.ts';

const obstacle =
  networkObstacle() ?? (process.env['DATABASE_URL'] ? 'needs a PostgreSQL of its own' : serverObstacle());
const keys = { KB_API_KEY: 'engine-key', KB_MCP_API_KEY: 'agent-key', CARREL_AUTH_TOKEN: '' };

// Each service of compose.yaml runs on a separate host, by the image's entry command, with exactly its environment.
test('as root: 003 "Docker Compose deployment": kb reaches the engine over the network by its service name', {
  skip: obstacle === undefined ? false : `not proven: ${obstacle}`,
}, async (t) => {
  const network = createComposeNetwork(t, ['engine', 'kb'], ['postgres']);
  const password = await answerForPostgres(t, network);
  const containers = createContainers(t, network, { ...keys, POSTGRES_PASSWORD: password });

  const kb = containers.start('kb');
  const [, where] = await watchText(kb.stderr ?? assert.fail()).waitForOutput(/listening on (\S+)/);
  assert.equal(where, 'http://0.0.0.0:3000/mcp');
  // Like a published port, it is reached from this machine.
  const address = `http://${network.addressOf('kb')}:3000`;
  const headers = { host: 'localhost:3000', authorization: `Bearer ${keys.KB_MCP_API_KEY}` };
  const session = await openSession(`${address}/mcp`, '2025-11-25', { headers });

  await t.test('003 "Engine unreachable at startup": serves, and reports that the engine does not answer', async () => {
    const [refused] = (await session.call(1, 'kb_status')).messages;
    assert.match(JSON.stringify(refused), /engine_unreachable/);
  });

  const engine = containers.start('engine');
  await watchText(engine.stderr ?? assert.fail()).waitForOutput(/listening on \S+:8000\/api\/v1/);
  await healthy(network, 'engine', 'http://engine:8000/api/v1/health');

  await t.test('003 "MCP server starts and connects to engine": a note goes through both into PostgreSQL', async () => {
    const added = structured(await session.call(2, 'kb_addnote', { text: 'The ferry to Elba leaves at dawn.' }));
    assert.ok(JSON.stringify(added).includes('job_id'), JSON.stringify(added));
    const found = await until(async () => {
      const answer = structured(await session.call(3, 'kb_search', { query: 'ferry Elba' }));
      return /leaves at dawn/.test(JSON.stringify(answer)) ? answer : undefined;
    });
    assert.ok(found);
    const status = structured(await session.call(4, 'kb_status'));
    assert.match(JSON.stringify(status), /postgres/);
  });

  await t.test('each side requires its own key', async () => {
    const { authorization: _, ...without } = headers;
    assert.equal((await exchange(`${address}/mcp`, { headers: without, body: '{}' })).status, 401);
    const status = `http://${network.addressOf('engine')}:8000/api/v1/status`;
    const wrong = { host: 'engine:8000', authorization: headers.authorization };
    assert.equal((await exchange(status, { method: 'GET', headers: wrong })).status, 401);
  });

  await t.test(
    'docs/docker.md: files are added, backed up while all runs, and restored, by containers of the engine',
    async () => {
      const folder = makeFolder(t);
      const backup = join(folder, 'carrel.tar');
      writeFileSync(join(folder, 'manual.md'), 'The lighthouse keeper winds the clockwork at noon.');
      const run = async (...command: string[]) => {
        const child = containers.run('engine', command);
        const said = watchText(child.stderr ?? assert.fail());
        assert.equal(await exitCode(child), 0, said.text());
      };
      const found = async () => JSON.stringify(structured(await session.call(5, 'kb_list'))).includes('manual.md');
      await run('add', folder, '--collection', 'manuals');
      assert.ok(await found());
      await run('backup', backup);
      const listed = structured(await session.call(6, 'kb_list', { collection: 'manuals' })) as { documents: object[] };
      const [document] = listed.documents as { document_id: number }[];
      structured(await session.call(7, 'kb_delete', { document_id: document?.document_id }));
      assert.equal(await found(), false);
      await run('restore', backup, '--force');
      assert.ok(await found());
    },
  );

  await t.test('both health checks pass, and SIGTERM ends both with 0', async () => {
    const { services } = readComposeFile();
    for (const [service, child] of Object.entries({ kb, engine })) {
      const [, program, ...args] = services[service]?.healthcheck?.test ?? [];
      assert.equal(program, 'node');
      const check = network.start(service, [process.execPath, ...args], {});
      assert.equal(await exitCode(check), 0, service);
      child.kill('SIGTERM');
      assert.equal(await exitCode(child), 0, service);
    }
  });
});

async function answerForPostgres(t: TestContext, network: ComposeNetwork): Promise<string> {
  const server = await startRealPostgres();
  assert.ok(typeof server !== 'string', String(server));
  t.after(() => server.stop());
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query('CREATE DATABASE carrel');
  await client.end();
  const { port, password, username } = new URL(server.url);
  assert.equal(username, 'carrel', 'the user of compose.yaml');
  await network.forward('postgres', 5432, { host: '127.0.0.1', port: Number(port) });
  return password;
}

/** Starts services like `docker compose up` and `docker compose run`. */
function createContainers(t: TestContext, network: ComposeNetwork, secrets: Record<string, string>) {
  const { services } = readComposeFile();
  const folder = makeFolder(t);
  const images = new Map<string, { image: Image; dataDir: string }>();
  const imageOf = (service: string) => {
    const dataDir = join(folder, `${service}-data`);
    const known = images.get(service);
    if (known) return known;
    mkdirSync(dataDir);
    const made = { image: layOutImage(join(folder, service), dataDir), dataDir };
    images.set(service, made);
    return made;
  };
  const run = (service: string, command: readonly string[]): ChildProcess => {
    const { image, dataDir } = imageOf(service);
    const { environment = {} } = services[service] ?? {};
    const own = Object.entries(environment).map(([name, value]) => [name, interpolate(value, secrets)] as const);
    const env = { PATH: process.env['PATH'] ?? '', HOME: dataDir, ...image.env, ...Object.fromEntries(own) };
    return network.start(service, image.entry(command), env);
  };
  return { run, start: (service: string) => run(service, services[service]?.command ?? []) };
}

/** Checked from the service's own host, by the name that others use. */
async function healthy(network: ComposeNetwork, service: string, url: string): Promise<void> {
  const script = `const ask = () => fetch('${url}').then((answer) => answer.ok ? process.exit(0) : setTimeout(ask, 100), () => setTimeout(ask, 100)); ask();`;
  assert.equal(await exitCode(network.start(service, [process.execPath, '-e', script], {})), 0);
}

function structured(answer: Awaited<ReturnType<RawSession['call']>>): unknown {
  const [message] = answer.messages;
  assert.ok(message?.result, answer.text);
  assert.notEqual(message.result['isError'], true, answer.text);
  return message.result['structuredContent'];
}

function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', resolve));
}
