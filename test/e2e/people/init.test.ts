import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { carrelProgram, makeFolder, startCarrel } from '../../support/child-program.ts';
import { runOnTerminal, runPiped } from '../../support/terminal.ts';

const essential = ['--tools', 'essential'];

/** Each client's file as in its documentation, with another server in it. */
const files: Readonly<Record<string, [path: string, content: string]>> = {
  'claude-code': [
    '.claude.json',
    '{\n  "numStartups": 12,\n  "mcpServers": {\n    "github": {\n      "type": "http",\n      "url": "https://api.githubcopilot.com/mcp/"\n    }\n  },\n  "projects": {\n    "/home/u/work": { "mcpServers": {}, "history": ["a"] }\n  }\n}\n',
  ],
  'claude-desktop': [
    '.config/Claude/claude_desktop_config.json',
    '{\r\n  "mcpServers": {\r\n    "filesystem": {\r\n      "command": "npx",\r\n      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/u/Desktop"]\r\n    }\r\n  }\r\n}\r\n',
  ],
  cursor: ['.cursor/mcp.json', '\ufeff{ "mcpServers": {} }'],
  vscode: [
    '.config/Code/User/mcp.json',
    '{\n\t// asked for once\n\t"inputs": [{ "type": "promptString", "id": "key", "password": true }],\n\t"servers": {\n\t\t"perplexity": {\n\t\t\t"type": "stdio",\n\t\t\t"command": "npx",\n\t\t\t"env": { "KEY": "${' +
      'input:key}" }, // secret\n\t\t},\n\t},\n}\n',
  ],
  windsurf: ['.codeium/windsurf/mcp_config.json', '{"mcpServers":{"a":{"serverUrl":"https://example.org/mcp"}}}'],
  codex: [
    '.codex/config.toml',
    'model = "gpt-5-codex" # usual\n\n[projects."/home/u/work"]\ntrust_level = "trusted"\n\n[mcp_servers.context7]\ncommand = "npx"\nargs = ["-y", "@upstash/context7-mcp"]\n\n[mcp_servers.context7.env]\nA = "1"\n',
  ],
  gemini: ['.gemini/settings.json', '{\n  // looks\n  "theme": "GitHub",\n  "mcpServers": {}\n}\n'],
  zed: [
    '.config/zed/settings.json',
    '// Zed settings\n//\n{\n  "ui_font_size": 16,\n  "theme": { "mode": "system" }, // day and night\n  "context_servers": {\n    "mine": { "source": "custom", "command": "x", "args": [] },\n  },\n}\n',
  ],
  cline: ['.cline/data/settings/cline_mcp_settings.json', ''],
  continue: [
    '.continue/config.yaml',
    'name: Local Config\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: Llama # local\n    provider: ollama\n    model: llama3.1:8b\nmcpServers:\n  - name: Browser\n    command: npx\n    args:\n      - "@playwright/mcp@latest"\n',
  ],
};

function setUp(t: TestContext, ids: readonly string[] = Object.keys(files)) {
  const home = join(makeFolder(t), 'home');
  mkdirSync(home);
  const pathOf = (id: string): string => join(home, files[id]?.[0] ?? '');
  for (const id of ids) {
    mkdirSync(dirname(pathOf(id)), { recursive: true });
    writeFileSync(pathOf(id), files[id]?.[1] ?? '', { mode: 0o644 });
  }
  const env = { HOME: home, CARREL_HOME: '', EMBEDDING_PROVIDER: 'none' };
  const run = (...args: string[]) => runPiped(home, ['init', ...args], { env });
  const content = (id: string): string => readFileSync(pathOf(id), 'utf8');
  const copies = (id: string): string[] =>
    readdirSync(dirname(pathOf(id))).filter((name) => name.includes('.carrel-') && name.endsWith('.bak'));
  return { home, env, run, pathOf, content, copies };
}

test('contract §9: init writes all ten clients, starts the server once, keeps the rest, and removes exactly our entries', (t) => {
  const { run, content, copies, pathOf } = setUp(t);
  const first = run('all');
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stdout, /^The server responded: carrel \d+\.\d+\.\d+, protocol 2025-11-25, \d\d tools\.$/m);
  for (const [id, [, before]] of Object.entries(files)) {
    const after = content(id);
    assert.ok(
      after.includes(JSON.stringify(process.execPath)) || after.includes(`command: ${process.execPath}`),
      `${id}: ${after}`,
    );
    assert.ok(after.includes(carrelProgram), `${id}: ${after}`);
    for (const line of before.split(/\r?\n/).filter((each) => /\/\/ |# |"(theme|history|KEY|A)"/.test(each))) {
      assert.ok(after.includes(line), `${id} lost ${line}`);
    }
    assert.equal(copies(id).length, 1, id);
    assert.equal(readFileSync(join(dirname(pathOf(id)), copies(id)[0] ?? ''), 'utf8'), before, id);
    assert.equal(statSync(pathOf(id)).mode & 0o777, 0o644, id);
    assert.match(first.stdout, new RegExp(`added to ${pathOf(id).replaceAll('.', '\\.')} \\(backup: `));
  }
  assert.ok(content('cursor').startsWith('\ufeff{'));
  assert.doesNotMatch(content('claude-desktop').replaceAll('\r\n', ''), /[\r\n]/);
  assert.equal(first.stdout.match(/^Next, /gm)?.length, 10);

  const written = Object.keys(files).map(content);
  const again = run('all');
  assert.equal(again.status, 0, again.stderr);
  assert.deepEqual(Object.keys(files).map(content), written, 'a second time changes nothing');
  for (const id of Object.keys(files)) assert.equal(copies(id).length, 1, id);

  const removed = run('all', '--remove');
  assert.equal(removed.status, 0, removed.stderr);
  for (const id of Object.keys(files)) assert.doesNotMatch(content(id), /carrel/, id);
  for (const id of ['claude-code', 'claude-desktop', 'vscode', 'codex', 'gemini', 'zed', 'continue']) {
    assert.equal(content(id), files[id]?.[1], id);
  }
  assert.match(run('all', '--remove').stdout, /nothing to change in/);
});

test('init without a client lists the installed ones; on a terminal it asks', (t) => {
  const { run, home, env, content, pathOf } = setUp(t, ['cursor', 'zed']);
  const { status, stdout } = run();
  assert.equal(status, 0);
  assert.match(
    stdout,
    /Found on this machine:\n {2}cursor {2}Cursor, .*\n {2}zed {5}Zed, .*\n.*Run carrel init <client>/,
  );
  assert.equal(content('cursor'), files['cursor']?.[1]);
  const asked = runOnTerminal(home, ['init'], { env, input: 'zed\nall\n\n', columns: 200 });
  assert.match(asked.stdout, /Which clients do you want to connect\?/);
  assert.match(asked.stdout, /The server responded: carrel/);
  assert.match(asked.stdout, /essential or all\?.*by path\?/s);
  assert.match(content('zed'), /"carrel": \{[^}]*"serve"\s*\]/);
  const papers = join(home, 'papers');
  mkdirSync(papers);
  assert.equal(run('zed', '--allow', join(home, 'nowhere')).status, 2);
  const allowing = new RegExp(`"serve",\\s*"--tools",\\s*"essential",\\s*"--allow",\\s*"${papers}"`);
  assert.match(run('zed', '--allow', papers, '--print').stdout, allowing);
  assert.equal(content('cursor'), files['cursor']?.[1]);
  const nobody = setUp(t, []);
  assert.match(nobody.run().stdout, /No client was found/);
  const made = nobody.run('cursor', '--read-only', '--data-dir', join(home, 'my data'));
  assert.match(made.stdout, /was not found on this machine/);
  const entry = JSON.parse(readFileSync(nobody.pathOf('cursor'), 'utf8')).mcpServers.carrel;
  assert.deepEqual(entry.args, [
    carrelProgram,
    'serve',
    '--data-dir',
    join(home, 'my data'),
    '--read-only',
    ...essential,
  ]);
  assert.equal(statSync(nobody.pathOf('cursor')).mode & 0o777, 0o600);
  assert.ok(existsSync(pathOf('cursor')));
});

test('--print shows and changes nothing', (t) => {
  const { run, home, content } = setUp(t, ['codex']);
  const { status, stdout, stderr } = run('codex', '--print');
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^\[mcp_servers\.carrel\]\ncommand = ".*"\nargs = \[".*carrel\.js", "serve", "--tools", "essential"\]\n$/,
  );
  assert.match(stderr, /Codex, .*config\.toml/);
  assert.equal(content('codex'), files['codex']?.[1]);
  assert.deepEqual(readdirSync(home), ['.codex'], 'nothing was started or made');
});

test('a file that cannot be read or changed is named with line and column, and no file is touched', (t) => {
  const { run, content, pathOf, home } = setUp(t, ['cursor', 'codex', 'zed']);
  writeFileSync(pathOf('zed'), '{\n  "a": 1,\n  "b" 2\n}\n');
  const broken = run('cursor', 'zed');
  assert.equal(broken.status, 78);
  assert.match(broken.stderr, /settings\.json: line 3, column 7: colon expected.*Nothing was changed/);
  assert.equal(broken.stderr.trim().split('\n').length, 1);
  assert.equal(content('cursor'), files['cursor']?.[1], 'those before it are left alone, too');

  chmodSync(pathOf('codex'), 0o444);
  assert.match(run('codex').stderr, /config\.toml is write-protected/);
  assert.equal(content('codex'), files['codex']?.[1]);
  const outside = join(home, 'outside.json');
  mkdirSync(join(home, '.gemini'));
  symlinkSync(outside, join(home, '.gemini/settings.json'));
  assert.match(run('gemini').stderr, /settings\.json is a broken link/);
  assert.equal(existsSync(outside), false);
  writeFileSync(pathOf('zed'), '{"context_servers": {"carrel": {"command": "docker", "args": ["run", "other"]}}}');
  for (const args of [['zed'], ['zed', '--remove']]) assert.match(run(...args).stderr, /another server named carrel/);
  assert.equal(existsSync(join(home, '.carrel')), false, 'nothing was started');
});

test('an unknown client or flag, or --http where unsupported, exits with 2', (t) => {
  const { run } = setUp(t, []);
  for (const [args, message] of [
    [['curser'], /Did you mean cursor\?/],
    [['cursor', '--htpp'], /Did you mean --http\?/],
    [['cursor', '--port', 'abc'], /--port must be an integer/],
    [['claude-desktop', '--http'], /does not accept a URL/],
  ] as const) {
    const { status, stderr } = run(...args);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  }
});

test('--http writes the address of a running server with its token, which is shown only on request', async (t) => {
  const { run, home, pathOf, env } = setUp(t, ['claude-code', 'codex']);
  const token = 'a-token-that-nobody-guesses';
  const server = await startCarrel(t, ['serve', '--transport', 'http'], { env: { ...env, CARREL_AUTH_TOKEN: token } });
  const port = new URL(server.url).port;
  const runWith = (given: string, ...args: string[]) =>
    runPiped(home, ['init', ...args, '--http', '--port', port], { env: { ...env, CARREL_AUTH_TOKEN: given } });

  const printed = runWith(token, 'claude-code', '--print');
  assert.match(printed.stdout, /"Authorization": "Bearer <token>"/);
  assert.doesNotMatch(printed.stdout + printed.stderr, new RegExp(token));
  assert.match(runWith(token, 'claude-code', '--print', '--show-token').stdout, new RegExp(token));

  const wrong = runWith('another-token', 'claude-code');
  assert.equal(wrong.status, 69);
  assert.match(wrong.stderr, /rejects the configured token/);
  assert.equal(readFileSync(pathOf('claude-code'), 'utf8'), files['claude-code']?.[1]);

  chmodSync(pathOf('codex'), 0o644);
  const { status, stdout, stderr } = runWith(token, 'claude-code', 'codex');
  assert.equal(status, 0, stderr);
  assert.match(stdout, /codex.* now contains the token, so only you can read it/);
  for (const client of ['claude-code', 'codex']) assert.equal(statSync(pathOf(client)).mode & 0o777, 0o600, client);
  assert.match(stdout, /The server responded: carrel .* \d\d tools/);
  assert.doesNotMatch(stdout + stderr, new RegExp(token));
  const { carrel } = JSON.parse(readFileSync(pathOf('claude-code'), 'utf8')).mcpServers;
  assert.deepEqual(carrel, { type: 'http', url: server.url, headers: { Authorization: `Bearer ${token}` } });
  assert.ok(
    readFileSync(pathOf('codex'), 'utf8').endsWith(
      `url = "${server.url}"\nhttp_headers = { Authorization = "Bearer ${token}" }\n`,
    ),
  );
  await server.stop();
  assert.match(run('codex', '--http', '--port', port).stdout, /No server answers there yet.*--port/);
  const back = run('codex');
  assert.match(back.stdout, /updated in/);
  assert.doesNotMatch(readFileSync(pathOf('codex'), 'utf8'), /http_headers|url =/);
});
