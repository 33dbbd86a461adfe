import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clients } from './clients.ts';
import { type Machine, machineOf } from './machine.ts';

const nothing = { exists: () => false, list: () => [] };
const linux = machineOf('linux', '/home/u', {}, nothing);
const mac = machineOf('darwin', '/Users/u', {}, nothing);
const windows = machineOf('win32', 'C:\\Users\\u', {}, nothing);

function filesOf(machine: Machine): Record<string, string[]> {
  return Object.fromEntries(clients.map(({ id, files }) => [id, files(machine).map(({ path }) => path)]));
}

test('contract §9: the ten clients, each with its file on Linux, macOS and Windows', () => {
  const firsts = (machine: Machine) =>
    Object.fromEntries(Object.entries(filesOf(machine)).map(([id, [first]]) => [id, first]));
  assert.deepEqual(firsts(linux), {
    'claude-code': '/home/u/.claude.json',
    'claude-desktop': '/home/u/.config/Claude/claude_desktop_config.json',
    cursor: '/home/u/.cursor/mcp.json',
    vscode: '/home/u/.config/Code/User/mcp.json',
    windsurf: '/home/u/.config/devin/mcp_config.json',
    codex: '/home/u/.codex/config.toml',
    gemini: '/home/u/.gemini/settings.json',
    zed: '/home/u/.config/zed/settings.json',
    cline: '/home/u/.cline/data/settings/cline_mcp_settings.json',
    continue: '/home/u/.continue/config.yaml',
  });
  const onMac = firsts(mac);
  assert.equal(onMac['claude-desktop'], '/Users/u/Library/Application Support/Claude/claude_desktop_config.json');
  assert.equal(onMac['vscode'], '/Users/u/Library/Application Support/Code/User/mcp.json');
  assert.equal(onMac['zed'], '/Users/u/.config/zed/settings.json');
  assert.equal(onMac['windsurf'], '/Users/u/.config/devin/mcp_config.json');
  const onWindows = firsts(windows);
  assert.equal(onWindows['claude-desktop'], 'C:\\Users\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json');
  assert.equal(onWindows['claude-code'], 'C:\\Users\\u\\.claude.json');
  assert.equal(onWindows['vscode'], 'C:\\Users\\u\\AppData\\Roaming\\Code\\User\\mcp.json');
  assert.equal(onWindows['zed'], 'C:\\Users\\u\\AppData\\Roaming\\Zed\\settings.json');
  assert.equal(onWindows['windsurf'], 'C:\\Users\\u\\AppData\\Roaming\\devin\\mcp_config.json');
});

test('environment variables move the files of clients that support them', () => {
  const env = {
    XDG_CONFIG_HOME: '/x',
    CODEX_HOME: '/c',
    CLAUDE_CONFIG_DIR: '/cc',
    CLINE_MCP_SETTINGS_PATH: '/cl/settings.json',
  };
  const files = filesOf(machineOf('linux', '/home/u', env, nothing));
  assert.equal(files['zed']?.[0], '/x/zed/settings.json');
  assert.equal(files['vscode']?.[0], '/x/Code/User/mcp.json');
  assert.equal(files['codex']?.[0], '/c/config.toml');
  assert.equal(files['claude-code']?.[0], '/cc/.claude.json');
  assert.equal(files['cline']?.[0], '/cl/settings.json');
  const roaming = machineOf('win32', 'C:\\Users\\u', { APPDATA: 'D:\\R', LOCALAPPDATA: 'D:\\L' }, nothing);
  assert.equal(filesOf(roaming)['vscode']?.[0], 'D:\\R\\Code\\User\\mcp.json');
});

test('Claude Desktop as a Windows package has its file inside the package', () => {
  const machine = machineOf(
    'win32',
    'C:\\Users\\u',
    {},
    {
      exists: () => true,
      list: (folder) => (folder.endsWith('\\Packages') ? ['Other_1', 'Claude_pzs8sxrjxfjjc'] : []),
    },
  );
  assert.deepEqual(filesOf(machine)['claude-desktop'], [
    'C:\\Users\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    'C:\\Users\\u\\AppData\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json',
  ]);
});

test('writes entries in the format that each client documents', () => {
  const launch = { command: '/n', args: ['/c.js', 'serve'] };
  const remote = { url: 'http://127.0.0.1:8737/mcp', token: 'secret' };
  const headers = { Authorization: 'Bearer secret' };
  const entries = Object.fromEntries(
    clients.map((client) => [client.id, [client.local(launch), client.remote?.(remote)]]),
  );
  const { url } = remote;
  assert.deepEqual(entries, {
    'claude-code': [
      { type: 'stdio', ...launch },
      { type: 'http', url, headers },
    ],
    'claude-desktop': [launch, undefined],
    cursor: [launch, { url, headers }],
    vscode: [
      { type: 'stdio', ...launch },
      { type: 'http', url, headers },
    ],
    windsurf: [launch, { url, transport: 'http', headers }],
    codex: [launch, { url, http_headers: headers }],
    gemini: [launch, { url, type: 'http', headers }],
    zed: [launch, { url, headers }],
    cline: [launch, { type: 'streamableHttp', url, headers }],
    continue: [
      { name: 'carrel', ...launch },
      { name: 'carrel', type: 'streamable-http', url, requestOptions: { headers } },
    ],
  });
  const windsurf = clients.find(({ id }) => id === 'windsurf');
  assert.deepEqual(windsurf?.files(linux)[1]?.remote?.({ url, token: undefined }), { serverUrl: url });
  assert.deepEqual(clients.find(({ id }) => id === 'continue')?.remote?.({ url, token: undefined }), {
    name: 'carrel',
    type: 'streamable-http',
    url,
  });
});
