import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOutcome, findEntry, sameData } from './server-entry.ts';
import { tomlFormat } from './toml-format.ts';

const entryPath = { servers: 'mcp_servers', name: 'carrel', initialText: '' };
const entry = { command: '/usr/bin/node', args: ['/opt/carrel/bin/carrel.js', 'serve'] };
const table = '[mcp_servers.carrel]\ncommand = "/usr/bin/node"\nargs = ["/opt/carrel/bin/carrel.js", "serve"]\n';

const set = (text: string, newEntry: Record<string, unknown> = entry) => tomlFormat.set(text, entryPath, newEntry);
const remove = (text: string) => tomlFormat.remove(text, entryPath);

const codex = `# Codex
model = "gpt-5-codex" # the usual one
notify = ["python3", "/home/u/notify.py"]
prompt = """
[mcp_servers.carrel]
command = "not ours, only text"
"""

[projects."/home/u/work"]
trust_level = "trusted"

# Browser
[mcp_servers.playwright]
command = "npx"
args = [
  "-y",
  "@playwright/mcp@latest",
]
[mcp_servers.playwright.env]
DEBUG = "1"
`;

test('appends our table, keeps everything else, and removal restores the file', async () => {
  const written = await set(codex);
  assert.equal(written, `${codex}\n${table}`);
  assert.equal(await set(written), written);
  assert.equal(await remove(written), codex);
  assert.equal(await set(''), table);
  assert.equal(await remove(table), '');
  const crlf = codex.replaceAll('\n', '\r\n');
  assert.equal(await set(crlf), `${codex}\n${table}`.replaceAll('\n', '\r\n'));
  assert.equal(await remove(await set(crlf)), crlf);
});

test('changes only what differs in our table; the user’s comments and keys stay', async () => {
  const text = `[mcp_servers.carrel]
# an older place
command = "/old/node"
args = ["/old/bin/carrel.js"] # old
startup_timeout_sec = 20 # slow disk

[mcp_servers.carrel.env]
LOG_LEVEL = "debug"

[other]
a = 1
`;
  const newEntry = { ...entry, startup_timeout_sec: 20, env: { LOG_LEVEL: 'debug' } };
  const written = await set(text, newEntry);
  assert.match(written, /# an older place\n/);
  assert.match(written, /startup_timeout_sec = 20 # slow disk\n/);
  assert.match(written, /\[mcp_servers\.carrel\.env\]\nLOG_LEVEL = "debug"\n/);
  checkOutcome(await tomlFormat.read(text), await tomlFormat.read(written), entryPath, newEntry);
  const http = {
    url: 'http://127.0.0.1:8737/mcp',
    http_headers: { Authorization: 'Bearer "x"' },
    startup_timeout_sec: 20,
  };
  const switched = await set(written, http);
  checkOutcome(await tomlFormat.read(text), await tomlFormat.read(switched), entryPath, http);
  assert.equal(await remove(switched).then((rest) => rest.trim()), '[other]\na = 1');
});

test('replaces an entry that is written in another TOML notation', async () => {
  for (const text of [
    '[mcp_servers]\ncarrel = { command = "/old/carrel.js" }\nother = { command = "x" }\n',
    'mcp_servers.carrel.command = "/old/carrel.js"\nmcp_servers.other.command = "x"\n',
    '[mcp_servers]\ncarrel.command = "/old/carrel.js"\n[mcp_servers.other]\ncommand = "x"\n',
    '["mcp_servers"."carrel"]\ncommand = "/old/carrel.js"\n[mcp_servers.other]\ncommand = "x"\n',
  ]) {
    const written = await set(text);
    assert.ok(sameData(findEntry(await tomlFormat.read(written), entryPath), entry), written);
    checkOutcome(await tomlFormat.read(text), await tomlFormat.read(written), entryPath, entry);
  }
});

test('rejects invalid TOML with line and column, and an inline table of servers', async () => {
  await assert.rejects(set('a = 1\nb = = 2\n'), { name: 'FileFault', line: 2 });
  await assert.rejects(set('[a]\n[a]\n'), { name: 'FileFault', line: 2 });
  // A closed table cannot be added to.
  const closed = 'mcp_servers = { other = { command = "x" } }\n';
  await assert.rejects(
    set(closed).then((written) => tomlFormat.read(written)),
    { name: 'FileFault' },
  );
});

test('unusual values survive a round trip', async () => {
  const odd = {
    command: 'C:\\Program Files\\node\\node.exe',
    args: ['a"b', 'tab\t', 'del\u007f', 'é港'],
    'odd key': { 'x.y': true },
  };
  assert.ok(sameData(findEntry(await tomlFormat.read(await set('', odd)), entryPath), odd));
});
