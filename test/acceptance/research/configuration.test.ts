import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import { loadRoleConfig } from '../../../src/app/program.ts';
import { roles } from '../../../src/app/roles.ts';
import type { Owner } from '../../fakes/loopback-server.ts';
import { startPageSite } from '../../fakes/page-site.ts';
import { startSearchProviders } from '../../fakes/search-providers/start-search-providers.ts';
import { createBareRpc } from '../../support/bare-rpc.ts';
import {
  type Carrel,
  carrelProgram,
  cleanEnv,
  makeFolder,
  runCarrel,
  startCarrel,
} from '../../support/child-program.ts';
import { freePort } from '../../support/postgres-process.ts';
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

function logOf({ dataDir }: Carrel): string {
  return readFileSync(join(dataDir, 'log', 'carrel.log'), 'utf8');
}

/** The effective settings, from `carrel config research`. */
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
  'the defaults match the table',
  async (t) => {
    const found = await settings(t);
    for (const [, setting, value] of defaults) assert.deepEqual(found[setting], { value, source: 'default' });
  },
);

/** From the document. */
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
  ['004 config/.env', '004 config/LOG_LEVEL'],
  'reads .env from the current folder, which the environment overrides; the level info logs no debug lines',
  async (t) => {
    const folder = makeFolder(t);
    writeFileSync(join(folder, '.env'), envFile);
    const found = await settings(t, folder, { MAX_SEARCH_RESULTS: '4' });
    assert.deepEqual(found['http.port'], { value: 3001, source: 'PORT' });
    assert.deepEqual(found['http.host'], { value: '127.0.0.1', source: 'default' });
    assert.deepEqual(found['research.rateLimitNotes'], { value: 50, source: 'RATE_LIMIT_NOTES' });
    assert.deepEqual(found['research.serperApiKey'], { value: null, source: 'default' });
    assert.deepEqual(found['research.maxSearchResults'], { value: 4, source: 'MAX_SEARCH_RESULTS' });
    const { carrel, rpc } = await start(t, {}, folder);
    await rpc.result('save_note', { title: 't', content: 'c' });
    assert.equal(existsSync(join(folder, 'data')), false, 'no path is taken from there');
    await rpc.error('fetch_page', { url: `${site.origin}/missing` });
    assert.equal(await carrel.stop(), 0);
    assert.match(logOf(carrel), / info started/);
    assert.doesNotMatch(logOf(carrel), / debug /);
  },
);

verifies(
  ['004 config/PORT', '004 config/HOST', '004 config/MAX_SEARCH_RESULTS', '004 config/LOG_LEVEL'],
  'listens on the configured host and port, allows more results, and logs debug lines',
  async (t) => {
    const port = await freePort();
    const env = { PORT: String(port), HOST: 'localhost', MAX_SEARCH_RESULTS: '6', LOG_LEVEL: 'debug' };
    const { carrel, rpc } = await start(t, env);
    assert.equal(new URL(carrel.url).port, String(port));
    assert.equal((await fetch(`http://localhost:${port}/health`)).status, 200);
    const { results } = await rpc.result('web_search', { query: 'python', limit: 6 });
    assert.equal(Array.isArray(results) && results.length, 6);
    await rpc.error('fetch_page', { url: `${site.origin}/missing` });
    assert.equal(await carrel.stop(), 0);
    assert.match(logOf(carrel), / debug call failed/);
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
  ['004 config/SEARCH_PROVIDER', '004 config/SERPER_API_KEY'],
  'names the variable of an invalid value, also of a key that is missing, and does not start',
  async (t) => {
    const dataDir = makeFolder(t);
    const role = roles['research'] ?? assert.fail();
    for (const [variable, value] of mistakes) {
      const env = { CARREL_HOME: dataDir, [variable]: value };
      assert.throws(() => loadRoleConfig(role, {}, env), {
        code: 'invalid_config',
        message: new RegExp(`^${variable} [^\\n]+$`),
      });
    }
    // All of them exit in the same way, so one start is enough.
    const { code, stderr } = await runCarrel(t, ['research'], { env: { SEARCH_PROVIDER: 'serper', PORT: '0' } });
    assert.equal(code, 78);
    assert.match(stderr, /^carrel: [^\n]*SERPER_API_KEY[^\n]*\n$/);
  },
);

verifies(
  [
    '004 config/MAX_SEARCH_RESULTS',
    '004 config/MAX_PAGE_SIZE',
    '004 config/USER_AGENT',
    '004 config/SEARCH_TIMEOUT_MS',
    '004 config/LOG_LEVEL',
    '004 database/location',
  ],
  'searches, pages, requests and the log follow their settings; without DB_PATH the current folder stays untouched',
  async (t) => {
    const agent = 'Desk/2.0 (+https://a.example)';
    const { rpc, folder, carrel } = await start(t, {
      ...{ MAX_SEARCH_RESULTS: '2', MAX_PAGE_SIZE: '1000', USER_AGENT: agent, SEARCH_TIMEOUT_MS: '2000' },
      LOG_LEVEL: 'error',
    });
    for (const args of [{}, { limit: 5 }]) {
      const { results } = await rpc.result('web_search', { query: 'python', ...args });
      assert.equal(Array.isArray(results) && results.length, 2);
    }
    assert.equal(providers.asked.at(-1)?.headers['user-agent'], agent);
    const page = await rpc.result('fetch_page', { url: `${site.origin}/long`, max_chars: 40_000 });
    assert.ok(String(page['content']).length <= 1000);
    assert.equal(page['truncated'], true);
    assert.equal(site.userAgent(), agent);

    await rpc.result('save_note', { title: 'Kept', content: 'elsewhere' });
    assert.deepEqual(readdirSync(folder), []);
    assert.ok(existsSync(join(carrel.dataDir, 'carrel.db')));

    // A slower provider has failed.
    providers.behave('duckduckgo', { kind: 'silent' });
    const error = await rpc.error('web_search', { query: 'python, but slow' });
    assert.equal(error.data.code, 'search_failed');
    assert.equal(error.data.details['reason'], 'timeout');
    assert.equal(await carrel.stop(), 0);
    assert.equal(logOf(carrel), '');
  },
);

verifies(
  ['004 config/DB_PATH', '004 database/location', '004 database/full-text'],
  'stores notes at the path; they are found at once and survive kill -9',
  async (t) => {
    const file = join(makeFolder(t), 'deep', 'er', 'notes.db');
    const first = await start(t, { DB_PATH: file });
    await first.rpc.result('save_note', { title: 'Axolotl', content: 'It regrows limbs.' });
    assert.equal((await first.rpc.result('list_notes', { query: 'axolotls' }))['total_count'], 1);
    first.carrel.process.kill('SIGKILL');
    assert.ok(existsSync(file));
    const second = await start(t, { DB_PATH: file });
    assert.equal((await second.rpc.result('list_notes', { query: 'regrow limb' }))['total_count'], 1);
  },
);
