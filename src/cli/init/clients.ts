import type { Machine } from './machine.ts';
import type { Entry } from './server-entry.ts';

/** The command with which a client starts a local server. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** A running server that clients reach over HTTP. */
export interface Remote {
  readonly url: string;
  readonly token: string | undefined;
}

/** One configuration file of a client. */
export interface ClientFile {
  readonly path: string;
  /** If any of these paths exists, the client is installed. */
  readonly evidence: readonly string[];
  /** The entry for this file, if it differs from the client's default entry. */
  readonly remote?: (remote: Remote) => Entry;
}

export interface Client {
  readonly id: string;
  readonly title: string;
  readonly format: 'json' | 'toml' | 'yaml';
  /** The key in the file under which the servers are listed. */
  readonly servers: string;
  /** Initial content of a new file. */
  readonly initialText?: string;
  /** Returns the client's possible files, with the default one first. */
  files(machine: Machine): readonly ClientFile[];
  local(launch: Launch): Entry;
  /** The entry for a running server; undefined if the client's file can't contain a URL. */
  readonly remote?: (remote: Remote) => Entry;
  /** Shown after the edit: what the user must do. */
  readonly next: string;
}

const bearer = ({ token }: Remote): { headers?: Entry } =>
  token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
const plainEntry = ({ command, args }: Launch): Entry => ({ command, args: [...args] });
const typedEntry = (launch: Launch): Entry => ({ type: 'stdio', ...plainEntry(launch) });

/** The supported clients, with paths, formats and keys as their vendors document them; see docs/clients.md. */
export const clients: readonly Client[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    format: 'json',
    servers: 'mcpServers',
    files({ home, join, env }) {
      const folder = env['CLAUDE_CONFIG_DIR'];
      const path = folder ? join(folder, '.claude.json') : join(home, '.claude.json');
      return [{ path, evidence: [path, folder ?? join(home, '.claude')] }];
    },
    local: typedEntry,
    remote: (remote) => ({ type: 'http', url: remote.url, ...bearer(remote) }),
    next: 'restart Claude Code; /mcp lists carrel',
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    format: 'json',
    servers: 'mcpServers',
    files(machine) {
      const { join, configFolder, localData, list } = machine;
      const folders = [join(configFolder, 'Claude')];
      // Since 2026, the packaged Windows app uses a separate folder.
      for (const name of localData === undefined ? [] : list(join(localData, 'Packages'))) {
        if (name.startsWith('Claude_')) {
          folders.push(join(localData ?? '', 'Packages', name, 'LocalCache', 'Roaming', 'Claude'));
        }
      }
      return folders.map((folder) => ({ path: join(folder, 'claude_desktop_config.json'), evidence: [folder] }));
    },
    local: plainEntry,
    next: 'quit Claude Desktop completely and open it again; Settings > Developer lists carrel',
  },
  {
    id: 'cursor',
    title: 'Cursor',
    format: 'json',
    servers: 'mcpServers',
    files: ({ home, join }) => [{ path: join(home, '.cursor', 'mcp.json'), evidence: [join(home, '.cursor')] }],
    local: plainEntry,
    remote: (remote) => ({ url: remote.url, ...bearer(remote) }),
    next: 'reload the Cursor window; its settings list carrel under MCP',
  },
  {
    id: 'vscode',
    title: 'VS Code',
    format: 'json',
    servers: 'servers',
    files: ({ configFolder, join }) =>
      ['Code', 'Code - Insiders', 'VSCodium'].map((product) => {
        const folder = join(configFolder, product, 'User');
        return { path: join(folder, 'mcp.json'), evidence: [folder] };
      }),
    local: typedEntry,
    remote: (remote) => ({ type: 'http', url: remote.url, ...bearer(remote) }),
    next: 'run "MCP: List Servers" in VS Code, and start carrel there',
  },
  {
    id: 'windsurf',
    title: 'Windsurf (Devin Desktop)',
    format: 'json',
    servers: 'mcpServers',
    files({ home, platform, join, configFolder }) {
      const devin = platform === 'win32' ? join(configFolder, 'devin') : join(home, '.config', 'devin');
      const windsurf = join(home, '.codeium', 'windsurf');
      return [
        { path: join(devin, 'mcp_config.json'), evidence: [devin] },
        {
          path: join(windsurf, 'mcp_config.json'),
          evidence: [windsurf],
          remote: (remote) => ({ serverUrl: remote.url, ...bearer(remote) }),
        },
      ];
    },
    local: plainEntry,
    remote: (remote) => ({ url: remote.url, transport: 'http', ...bearer(remote) }),
    next: "refresh the list in Windsurf's MCP panel",
  },
  {
    id: 'codex',
    title: 'Codex',
    format: 'toml',
    servers: 'mcp_servers',
    files({ home, join, env }) {
      const folder = env['CODEX_HOME'] || join(home, '.codex');
      return [{ path: join(folder, 'config.toml'), evidence: [folder] }];
    },
    local: plainEntry,
    // Codex rejects a token in bearer_token, and for bearer_token_env_var the user would have to set a variable.
    remote: (remote) => ({
      url: remote.url,
      ...(remote.token === undefined ? {} : { http_headers: { Authorization: `Bearer ${remote.token}` } }),
    }),
    next: 'start a new Codex session; /mcp lists carrel',
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    format: 'json',
    servers: 'mcpServers',
    files: ({ home, join }) => [{ path: join(home, '.gemini', 'settings.json'), evidence: [join(home, '.gemini')] }],
    local: plainEntry,
    remote: (remote) => ({ url: remote.url, type: 'http', ...bearer(remote) }),
    next: 'restart Gemini CLI; /mcp lists carrel',
  },
  {
    id: 'zed',
    title: 'Zed',
    format: 'json',
    servers: 'context_servers',
    files({ home, platform, join, configFolder, env }) {
      const base =
        platform === 'win32' ? join(configFolder, 'Zed') : join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'zed');
      return [{ path: join(base, 'settings.json'), evidence: [base] }];
    },
    local: plainEntry,
    remote: (remote) => ({ url: remote.url, ...bearer(remote) }),
    next: 'Zed reloads its settings automatically; a green dot in Settings > AI > MCP Servers means that the server runs',
  },
  {
    id: 'cline',
    title: 'Cline',
    format: 'json',
    servers: 'mcpServers',
    files({ home, join, configFolder, env }) {
      const configuredPath = env['CLINE_MCP_SETTINGS_PATH'];
      const defaultPath = join(home, '.cline', 'data', 'settings', 'cline_mcp_settings.json');
      const storage = join(configFolder, 'Code', 'User', 'globalStorage', 'saoudrizwan.claude-dev');
      return [
        configuredPath
          ? { path: configuredPath, evidence: [configuredPath] }
          : { path: defaultPath, evidence: [join(home, '.cline')] },
        // Used by earlier versions of the extension.
        { path: join(storage, 'settings', 'cline_mcp_settings.json'), evidence: [storage] },
      ];
    },
    local: plainEntry,
    // Without a type, Cline treats the URL as legacy SSE.
    remote: (remote) => ({ type: 'streamableHttp', url: remote.url, ...bearer(remote) }),
    next: "restart carrel in Cline's MCP panel",
  },
  {
    id: 'continue',
    title: 'Continue',
    format: 'yaml',
    servers: 'mcpServers',
    initialText: 'name: Local Config\nversion: 1.0.0\nschema: v1\nmodels: []\n',
    files: ({ home, join }) => [{ path: join(home, '.continue', 'config.yaml'), evidence: [join(home, '.continue')] }],
    local: (launch) => ({ name: 'carrel', ...plainEntry(launch) }),
    remote: (remote) => {
      const { headers } = bearer(remote);
      const options = headers === undefined ? {} : { requestOptions: { headers } };
      return { name: 'carrel', type: 'streamable-http', url: remote.url, ...options };
    },
    next: 'reload the window; carrel is offered in agent mode',
  },
];
