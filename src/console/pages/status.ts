import type { Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';

export interface ShownSetting {
  path: string;
  value: string;
  source: string;
}

/** What is behind this server, and how it is. */
export async function sourcesPage({ tools }: Visit): Promise<Page> {
  const asked = ['kb_status', 'get_statistics'].filter((name) => tools.has(name));
  const answers = await Promise.all(asked.map(async (name) => [name, await orProblem(tools.call(name, {}))] as const));
  const names: Record<string, string> = { kb_status: 'Knowledge base', get_statistics: 'Memory' };
  return {
    title: 'Sources',
    body: html`<h1>Sources</h1>${answers.map(([name, answer]) => html`<section><h2>${names[name] ?? name}</h2>${facts(answer)}</section>`)}`,
  };
}

async function orProblem(answer: Promise<Record<string, unknown>>): Promise<Record<string, unknown>> {
  return await answer.catch((error: unknown) => ({ problem: error instanceof Error ? error.message : 'failed' }));
}

function facts(from: Record<string, unknown>): Html {
  return html`<dl>${Object.entries(from).map(([name, value]) => html`<dt>${name.replaceAll('_', ' ')}</dt><dd>${shown(value)}</dd>`)}</dl>`;
}

function shown(value: unknown): Html {
  if (Array.isArray(value)) return html`<ul>${value.slice(0, 20).map((each) => html`<li>${shown(each)}</li>`)}</ul>`;
  if (typeof value === 'object' && value !== null) return facts(value as Record<string, unknown>);
  return html`${value === null ? '–' : String(value)}`;
}

/** The settings in force, and where each came from. */
export function settingsPage(settings: readonly ShownSetting[], dataDir: string): Page {
  return {
    title: 'Settings',
    body: html`<h1>Settings</h1><p>Data folder: <code>${dataDir}</code></p>
<table><thead><tr><th scope="col">Setting</th><th scope="col">Value</th><th scope="col">From</th></tr></thead>
<tbody>${settings.map(({ path, value, source }) => html`<tr class="${source === 'default' ? 'default' : ''}"><td><code>${path}</code></td><td>${value}</td><td>${source}</td></tr>`)}</tbody></table>`,
  };
}

/** How to point a client here. */
export function connectPage(url: string, needsToken: boolean): Page {
  const port = URL.parse(url)?.port ?? '';
  const flags = port === '' || port === usualPort ? '' : ` --port ${port}`;
  const entry = {
    mcpServers: {
      carrel: { type: 'http', url, ...(needsToken ? { headers: { Authorization: 'Bearer <token>' } } : {}) },
    },
  };
  return {
    title: 'Connect',
    body: html`<h1>Connect a client</h1>
<p>MCP is at <code id="url">${url}</code> ${copyButton('url')}${needsToken && html`, with the token in <code>Authorization: Bearer</code>`}.</p>
<h2>With one command</h2>
<p>On the machine of the client, in a checkout or with the package installed:</p>
${clients.map(([name, title]) => html`<p><b>${title}</b> <code id="${name}">carrel init ${name} --http${flags}</code> ${copyButton(name)}</p>`)}
<h2>By hand</h2><p>Most clients take this in their file of MCP servers:</p>
<pre id="json">${JSON.stringify(entry, null, 2)}</pre>${copyButton('json')}`,
  };
}

const usualPort = '8737';

const clients = [
  ['claude-code', 'Claude Code'],
  ['claude-desktop', 'Claude Desktop'],
  ['cursor', 'Cursor'],
  ['vscode', 'VS Code'],
  ['windsurf', 'Windsurf'],
  ['codex', 'Codex'],
  ['gemini', 'Gemini CLI'],
  ['zed', 'Zed'],
  ['cline', 'Cline'],
  ['continue', 'Continue'],
] as const;

function copyButton(id: string): Html {
  return html`<button type="button" class="plain" data-copy="#${id}" hidden>Copy</button>`;
}
