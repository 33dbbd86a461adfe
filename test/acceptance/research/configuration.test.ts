import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import { type Owner, serveTcp } from '../../fakes/loopback-server.ts';
import { startPageSite } from '../../fakes/page-site.ts';
import { startSearchProviders } from '../../fakes/search-providers/start-search-providers.ts';
import { createBareRpc } from '../../support/bare-rpc.ts';
import { carrelProgram, cleanEnv, makeFolder, runCarrel, startCarrel } from '../../support/child-program.ts';
import { verifies } from '../../support/verifies.ts';

const providers = await startSearchProviders({ after });
const site = await startPageSite({ after });

async function start(t: Owner, env: Record<string, string>, folder = makeFolder(t)) {
  const carrel = await startCarrel(t, ['research'], {
    folder,
    env: { DUCKDUCKGO_URL: providers.addresses.duckduckgo, FETCH_ALLOW_PRIVATE: `127.0.0.1:${site.port}`, ...env },
  });
  return { carrel, rpc: createBareRpc(carrel.url), folder };
}

/** The settings in force, as `carrel config research` shows them. */
async function settings(t: Owner, folder = makeFolder(t), env: Record<string, string> = {}) {
  const { stdout } = await promisify(execFile)(process.execPath, [carrelProgram, 'config', 'research', '--json'], {
    cwd: folder,
    env: cleanEnv(join(folder, 'home'), env),
  });
  const { settings: all }: { settings: Record<string, { value: unknown; source: string }> } = JSON.parse(stdout);
  return all;
}

const defaults: [clause: string, setting: string, value: unknown][] = [
  ['004 config/PORT', 'http.port', 3001],
  ['004 config/HOST', 'http.host', '127.0.0.1'],
  ['004 config/LOG_LEVEL', 'log.level', 'info'],
  ['004 config/SEARCH_PROVIDER', 'research.searchProvider', 'duckduckgo'],
  ['004 config/MAX_SEARCH_RESULTS', 'research.maxSearchResults', 5],
  ['004 config/SEARCH_TIMEOUT_MS', 'research.searchTimeoutMs', 10_000],
  ['004 config/MAX_PAGE_SIZE', 'research.maxPageSize', 50_000],
  ['004 config/FETCH_TIMEOUT_MS', 'research.fetchTimeoutMs', 15_000],
  ['004 config/USER_AGENT', 'research.userAgent', 'ResearchCopilot/1.0'],
  ['004 config/RATE_LIMIT_SEARCH', 'research.rateLimitSearch', 10],
  ['004 config/RATE_LIMIT_FETCH', 'research.rateLimitFetch', 30],
  ['004 config/RATE_LIMIT_NOTES', 'research.rateLimitNotes', 50],
];

verifies(
  defaults.map(([clause]) => clause),
  'the defaults are those of the table',
  async (t) => {
    const found = await settings(t);
    for (const [, setting, value] of defaults) assert.deepEqual(found[setting], { value, source: 'default' });
  },
);

/** As the document has it. */
const envFile = `# Server
PORT=3001
HOST=localhost
LOG_LEVEL=info

# Search
SEARCH_PROVIDER=duckduckgo
SERPER_API_KEY=           # Required if using serper
MAX_SEARCH_RESULTS=5
SEARCH_TIMEOUT_MS=10000

# Fetch
MAX_PAGE_SIZE=50000
FETCH_TIMEOUT_MS=15000
USER_AGENT=ResearchCopilot/1.0

# Database
DB_PATH=./data/notes.db

# Rate Limiting (requests per minute)
RATE_LIMIT_SEARCH=10
RATE_LIMIT_FETCH=30
RATE_LIMIT_NOTES=50
`;

verifies(
  '004 config/.env',
  'the .env file of the document is read in the current folder, and the environment wins',
  async (t) => {
    const folder = makeFolder(t);
    writeFileSync(join(folder, '.env'), envFile);
    const found = await settings(t, folder, { MAX_SEARCH_RESULTS: '4' });
    assert.deepEqual(found['http.port'], { value: 3001, source: 'PORT' });
    assert.deepEqual(found['http.host'], { value: 'localhost', source: 'HOST' });
    assert.deepEqual(found['research.serperApiKey'], { value: null, source: 'default' });
    assert.deepEqual(found['research.maxSearchResults'], { value: 4, source: 'MAX_SEARCH_RESULTS' });
    const { rpc } = await start(t, {}, folder);
    await rpc.result('save_note', { title: 't', content: 'c' });
    assert.ok(existsSync(join(folder, 'data', 'notes.db')));
  },
);

verifies(['004 config/PORT', '004 config/HOST'], 'it listens where it is told to', async (t) => {
  const port = await freePort();
  const { carrel } = await start(t, { PORT: String(port), HOST: 'localhost' });
  assert.equal(new URL(carrel.url).port, String(port));
  assert.equal((await fetch(`http://localhost:${port}/health`)).status, 200);
  assert.equal(await carrel.stop(), 0);
});

verifies('004 config/PORT', 'a port that is taken is said in one line, and may be tried again', async (t) => {
  const { port } = await serveTcp(t, () => {});
  const { code, stderr } = await runCarrel(t, ['research'], { env: { PORT: String(port) } });
  assert.equal(code, 69);
  assert.match(stderr, /^carrel: [^\n]*in use[^\n]*\n$/);
});

verifies('004 config/LOG_LEVEL', 'the log holds what the level says', async (t) => {
  const logOf = async (level: string): Promise<string> => {
    const { carrel, rpc } = await start(t, { LOG_LEVEL: level });
    await rpc.error('fetch_page', { url: `${site.origin}/missing` });
    await carrel.stop();
    return readFileSync(join(carrel.dataDir, 'log', 'carrel.log'), 'utf8');
  };
  const debug = await logOf('debug');
  assert.match(debug, / debug call failed/);
  assert.match(debug, / info started/);
  const info = await logOf('info');
  assert.match(info, / info started/);
  assert.doesNotMatch(info, / debug /);
  assert.equal(await logOf('error'), '');
});

verifies(
  ['004 config/SEARCH_PROVIDER', '004 config/SERPER_API_KEY'],
  'serper without a key does not start',
  async (t) => {
    const { code, stderr } = await runCarrel(t, ['research'], { env: { SEARCH_PROVIDER: 'serper', PORT: '0' } });
    assert.equal(code, 78);
    assert.match(stderr, /^carrel: [^\n]*SERPER_API_KEY[^\n]*\n$/);
  },
);

const mistakes: [variable: string, value: string][] = [
  ['PORT', 'abc'],
  ['PORT', '70000'],
  ['LOG_LEVEL', 'loud'],
  ['SEARCH_PROVIDER', 'bing'],
  ['MAX_SEARCH_RESULTS', '0'],
  ['SEARCH_TIMEOUT_MS', '-1'],
  ['MAX_PAGE_SIZE', 'large'],
  ['FETCH_TIMEOUT_MS', '1.5'],
  ['USER_AGENT', 'a\r\nX-Injected: 1'],
  ['RATE_LIMIT_SEARCH', 'none'],
  ['RATE_LIMIT_FETCH', '0'],
  ['RATE_LIMIT_NOTES', '-5'],
  ['DUCKDUCKGO_URL', 'ftp://a.example/'],
  ['SEARXNG_URL', 'http://user:secret@a.example/'],
  ['FETCH_ALLOW_PRIVATE', 'http://a.example/'],
];
verifies(
  '004 config/SEARCH_PROVIDER',
  'a value that does not fit is named with its variable, and it does not start',
  async (t) => {
    for (const [variable, value] of mistakes) {
      const { code, stderr } = await runCarrel(t, ['research'], { env: { PORT: '0', [variable]: value } });
      assert.equal(code, 78, variable);
      assert.match(stderr, new RegExp(`^carrel: ${variable} [^\\n]+\\n$`));
    }
  },
);

verifies('004 config/MAX_SEARCH_RESULTS', 'no search has more results than that', async (t) => {
  const { rpc } = await start(t, { MAX_SEARCH_RESULTS: '2' });
  for (const args of [{}, { limit: 5 }]) {
    const { results } = await rpc.result('web_search', { query: 'python', ...args });
    assert.equal(Array.isArray(results) && results.length, 2);
  }
  const more = await start(t, { MAX_SEARCH_RESULTS: '6' });
  const { results } = await more.rpc.result('web_search', { query: 'python', limit: 6 });
  assert.equal(Array.isArray(results) && results.length, 6);
});

verifies('004 config/SEARCH_TIMEOUT_MS', 'a provider that takes longer has failed', async (t) => {
  const { rpc } = await start(t, { SEARCH_TIMEOUT_MS: '200' });
  providers.behave('duckduckgo', { kind: 'silent' });
  const error = await rpc.error('web_search', { query: 'python' });
  assert.equal(error.data.code, 'search_failed');
  assert.equal(error.data.details['reason'], 'timeout');
});

verifies('004 config/MAX_PAGE_SIZE', 'no answer holds more of a page than that', async (t) => {
  const { rpc } = await start(t, { MAX_PAGE_SIZE: '1000' });
  const page = await rpc.result('fetch_page', { url: `${site.origin}/long`, max_chars: 40_000 });
  assert.ok(String(page['content']).length <= 1000);
  assert.equal(page['truncated'], true);
});

verifies('004 config/USER_AGENT', 'sites and providers see it', async (t) => {
  const { rpc } = await start(t, { USER_AGENT: 'Desk/2.0 (+https://a.example)' });
  await rpc.result('fetch_page', { url: `${site.origin}/article` });
  assert.equal(site.userAgent(), 'Desk/2.0 (+https://a.example)');
  await rpc.callTool('web_search', { query: 'python' });
  assert.equal(providers.asked.at(-1)?.headers['user-agent'], 'Desk/2.0 (+https://a.example)');
});

verifies(
  ['004 config/DB_PATH', '004 database/location'],
  'notes are kept where it says, and survive a restart',
  async (t) => {
    const file = join(makeFolder(t), 'deep', 'er', 'notes.db');
    const first = await start(t, { DB_PATH: file });
    await first.rpc.result('save_note', { title: 'Kept', content: 'across a restart' });
    assert.equal(await first.carrel.stop(), 0);
    assert.ok(existsSync(file));
    const second = await start(t, { DB_PATH: file });
    const page = await second.rpc.result('list_notes', { query: 'restart' });
    assert.equal(page['total_count'], 1);
  },
);

verifies('004 database/location', 'without DB_PATH nothing is written into the current folder', async (t) => {
  const { rpc, folder, carrel } = await start(t, {});
  await rpc.result('save_note', { title: 'Kept', content: 'elsewhere' });
  assert.deepEqual(readdirSync(folder), []);
  assert.ok(existsSync(join(carrel.dataDir, 'carrel.db')));
});

verifies(
  '004 database/full-text',
  'a note is found by its words as soon as it is saved, and after kill -9',
  async (t) => {
    const file = join(makeFolder(t), 'notes.db');
    const first = await start(t, { DB_PATH: file });
    await first.rpc.result('save_note', { title: 'Axolotl', content: 'It regrows limbs.' });
    assert.equal((await first.rpc.result('list_notes', { query: 'axolotls' }))['total_count'], 1);
    first.carrel.process.kill('SIGKILL');
    const second = await start(t, { DB_PATH: file });
    assert.equal((await second.rpc.result('list_notes', { query: 'regrow limb' }))['total_count'], 1);
  },
);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}
