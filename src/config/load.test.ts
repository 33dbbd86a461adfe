import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Secret } from '../base/secret.ts';
import { addressText, choice, defineSlice, httpUrl, integer, list, optionalText, secret, toggle } from './field.ts';
import { loadConfig } from './load.ts';
import { logSlice } from './slices.ts';

const slice = defineSlice('http', 'Transport', {
  port: integer({ default: 1, min: 0, max: 65_535, env: ['A_PORT', 'B_PORT'], flag: 'port', description: 'p' }),
  mode: choice(['x', 'y'], { default: 'x', env: ['MODE'], description: 'm' }),
  names: list({ default: [], env: ['NAMES'], description: 'n' }),
  on: toggle({ default: false, env: ['ON'], description: 'o' }),
  token: secret({ env: ['TOKEN'], description: 't' }),
  door: secret({ env: ['DOOR', 'OTHER_DOOR'], refusesEmpty: true, description: 'd' }),
  url: httpUrl<string | undefined>({ default: undefined, env: ['URL_'], description: 'u' }),
  address: addressText({ default: 'http://a', env: ['ADDRESS'], description: 'a' }),
});

const folders: string[] = [];
after(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
});

function folder(files: Record<string, string> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'carrel-config-'));
  folders.push(path);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return path;
}

function load(dataDir: string, env: Record<string, string> = {}, flags: Record<string, string> = {}, more = {}) {
  return loadConfig({ slices: [slice], flags: { 'data-dir': dataDir, ...flags }, env, ...more });
}

test('later sources win: defaults, file, environment, flags (contract §1)', () => {
  const dataDir = folder({ 'config.json': '{"http":{"port":2,"mode":"y"}}' });
  const port = (config: ReturnType<typeof load>) => {
    const setting = config.settings.find(({ path }) => path === 'http.port');
    return [setting?.value, setting?.source];
  };
  assert.deepEqual(port(load(folder())), [1, 'default']);
  assert.deepEqual(port(load(dataDir)), [2, join(dataDir, 'config.json')]);
  assert.deepEqual(port(load(dataDir, { B_PORT: '3' })), [3, 'B_PORT']);
  assert.deepEqual(port(load(dataDir, { B_PORT: '3' }, { port: '4' })), [4, '--port']);
  assert.equal(load(dataDir).of(slice).mode, 'y');
});

test('accepts the log levels of the original context server', () => {
  const { level } = loadConfig({ slices: [logSlice], flags: {}, env: { LOG_LEVEL: 'WARNING' } }).of(logSlice);
  assert.equal(level, 'warn');
});

test('a role may rename variables and change defaults; an empty variable counts as unset', () => {
  const overrides = { 'http.port': { default: 3000, env: ['KB_MCP_PORT'] } };
  assert.equal(load(folder(), { A_PORT: '7', KB_MCP_PORT: '' }, {}, { overrides }).of(slice).port, 3000);
  assert.equal(load(folder(), { KB_MCP_PORT: '8' }, {}, { overrides }).of(slice).port, 8);
});

test('makes relative paths absolute and leaves other values alone', () => {
  const paths = defineSlice('paths', 'Paths', {
    kind: choice(['file', 'name'], { default: 'file', env: ['KIND'], description: 'k' }),
    either: optionalText({ env: ['EITHER'], isPath: ({ kind }) => kind === 'file', description: 'e' }),
    roots: list({ default: [], env: ['ROOTS'], isPath: true, description: 'r' }),
  });
  const read = (env: Record<string, string>) => {
    const config = loadConfig({ slices: [paths], flags: { 'data-dir': folder() }, env });
    return { ...config.of(paths), dependsOnFolder: config.dependsOnFolder };
  };
  const here = process.cwd();
  assert.deepEqual(read({ EITHER: 'a/b', ROOTS: './c,/d' }), {
    kind: 'file',
    either: join(here, 'a/b'),
    roots: [join(here, 'c'), '/d'],
    dependsOnFolder: true,
  });
  const apart = { KIND: 'name', EITHER: 'a/b', ROOTS: '/d' };
  assert.deepEqual(read(apart), { kind: 'name', either: 'a/b', roots: ['/d'], dependsOnFolder: false });
});

test('environment variables override a .env file', () => {
  const envFile = {
    folder: folder({ '.env': '\ufeffNAMES=a, b,,c # comment\nA_PORT=5\n' }),
    variables: ['NAMES', 'A_PORT'],
  };
  const config = load(folder(), { A_PORT: '6' }, {}, { envFile });
  assert.deepEqual([config.of(slice).port, config.of(slice).names], [6, ['a', 'b', 'c']]);
});

test('the error for an invalid value names its source, the problem and the range', () => {
  const cases: [() => unknown, string, RegExp][] = [
    [() => load(folder(), { A_PORT: 'x' }), 'invalid_config', /^A_PORT must be an integer from 0 to 65535, not "x"\.$/],
    [() => load(folder(), {}, { port: '70000' }), 'invalid_usage', /^--port must be an integer from 0 to 65535/],
    [
      () => load(folder({ 'config.json': '{"http":{"mode":"z"}}' })),
      'invalid_config',
      /http\.mode in .*config\.json must be one of x, y, not "z"/,
    ],
    [() => load(folder({ 'config.json': '{"http":{"on":"perhaps"}}' })), 'invalid_config', /must be true or false/],
    [
      () => load(folder({ 'config.json': '{\n  "http": }' })),
      'invalid_config',
      /config\.json is not valid JSON: line 2, column 11, found "}"/,
    ],
    [() => load(folder({ 'config.json': '[]' })), 'invalid_config', /must contain a JSON object/],
    [
      () => load(folder({ 'config.json': '{"http":8080}' })),
      'invalid_config',
      /^http in .*config\.json must be an object/,
    ],
    [
      () => load(folder(), {}, { config: '/no/such/file.json' }),
      'invalid_config',
      /configuration file \/no\/such\/file\.json does not exist/,
    ],
    [
      () => load(folder(), {}, { config: join(folder({ 'c.conf': '{"http":{"port":-1}}' }), 'c.conf') }),
      'invalid_config',
      /^http\.port in .*c\.conf must be an integer/,
    ],
    [() => load(folder(), {}, { config: tmpdir() }), 'invalid_config', /Can't read the configuration file/],
  ];
  for (const [run, code, message] of cases) assert.throws(run, { code, message });
});

test('warns about unknown sections, but not about sections of other roles', () => {
  const dataDir = folder({ 'config.json': '{"htttp":{"port":1},"research":{"port":1}}' });
  const { warnings } = load(dataDir, {}, {}, { otherSections: ['research'] });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /htttp is not a section/);
});

test('an unknown key is a warning, not a failure', () => {
  const { warnings } = load(folder({ 'config.json': '{"http":{"prot":1}}' }));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /http\.prot is not a setting/);
});

test('a secret cannot be printed from the configuration, and a blank one is rejected without showing it', () => {
  const config = load(folder(), { TOKEN: 'very-secret-value' });
  assert.ok(config.of(slice).token instanceof Secret);
  assert.equal(JSON.stringify(config.settings).includes('very-secret-value'), false);
  assert.throws(() => load(folder(), { TOKEN: '   ' }), /TOKEN must be text, and not blank\.$/);
});

test('rejects an empty access key like a blank one; other empty secrets count as unset', () => {
  assert.throws(() => load(folder(), { DOOR: '' }), {
    code: 'invalid_config',
    message: /^DOOR must be text, and not blank\.$/,
  });
  assert.throws(() => load(folder(), { OTHER_DOOR: '' }), /^CarrelError: OTHER_DOOR must be/);
  assert.throws(() => load(folder({ 'config.json': '{"http":{"door":""}}' })), /not blank/);
  assert.throws(
    () => load(folder(), {}, {}, { envFile: { folder: folder({ '.env': 'DOOR=\n' }), variables: ['DOOR'] } }),
    /not blank/,
  );
  assert.equal(load(folder(), { TOKEN: '' }).of(slice).token, undefined);
});

test('masks secrets in addresses, in printed settings and in messages', () => {
  const printable = (env: Record<string, string>, path: string) =>
    load(folder(), env).settings.find((setting) => setting.path === path)?.printable;
  assert.equal(
    printable({ ADDRESS: 'http://u:pw1@host/v1?key=k' }, 'http.address'),
    'http://[secret]@host/v1?[secret]',
  );
  assert.equal(printable({ URL_: 'https://host/?key=k2' }, 'http.url'), 'https://host/?[secret]');
  assert.equal(load(folder(), { URL_: 'https://host/?key=k2' }).of(slice).url, 'https://host/?key=k2');
  const long = `http://user:pw-${'x'.repeat(80)}@host`;
  for (const wrong of ['http://user:pw-secret@host/', 'ftp://user:pw-secret@host', 'user:pw-secret@host', long]) {
    assert.throws(
      () => load(folder(), { URL_: wrong }),
      ({ message }: Error) => /^URL_ must/.test(message) && !message.includes('pw-'),
      wrong,
    );
  }
});

test('warns about a file with a secret that others may read, and says what to do', {
  skip: process.platform === 'win32',
}, () => {
  const files = { 'config.json': '{"http":{"token":"a-secret-token"}}' };
  for (const [mode, isExposed] of [
    [0o644, true],
    [0o640, true],
    [0o600, false],
  ] as const) {
    const dataDir = folder(files);
    const file = join(dataDir, 'config.json');
    chmodSync(file, mode);
    const { warnings, exposedFile } = load(dataDir);
    assert.equal(exposedFile, isExposed ? file : undefined);
    assert.deepEqual(warnings.length, isExposed ? 1 : 0);
    if (isExposed) assert.match(warnings[0] ?? '', /can be read by other users.*chmod 600/);
  }
  const harmless = folder({ 'config.json': '{"http":{"port":2}}' });
  chmodSync(join(harmless, 'config.json'), 0o644);
  assert.deepEqual(load(harmless).warnings, []);
});
