import { isObject } from '../../base/json.ts';
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
  if (isObject(value)) return facts(value);
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

/** How one client is told of a server that runs. */
export interface ConnectSnippet {
  /** As `carrel init` names it. */
  id: string;
  title: string;
  /** What its file needs. Undefined if that cannot hold a URL. */
  entry?: { file: string; text: string };
  /** What to do then. */
  next: string;
}

/** How to point a client here. */
export function connectPage(url: string, needsToken: boolean, snippets: readonly ConnectSnippet[]): Page {
  const port = URL.parse(url)?.port ?? '';
  const flags = port === '' || port === usualPort ? '' : ` --port ${port}`;
  return {
    title: 'Connect',
    body: html`<h1>Connect a client</h1>
<p>MCP is at <code id="url">${url}</code> ${copyButton('url')}${needsToken && html`, with the token in <code>Authorization: Bearer</code>`}.</p>
<p><code>carrel init</code> writes the entry into the client's file and keeps a backup. From a checkout it is <code>npx node bin/carrel.js init</code>.</p>
${snippets.map((snippet) => clientSection(snippet, flags))}`,
  };
}

function clientSection({ id, title, entry, next }: ConnectSnippet, flags: string): Html {
  const command = entry === undefined ? `carrel init ${id}` : `carrel init ${id} --http${flags}`;
  return html`<section class="client" aria-label="${title}"><h2>${title}</h2>
<p><code id="${id}-command">${command}</code> ${copyButton(`${id}-command`)}</p>
${
  entry === undefined
    ? html`<p>Its file takes no URL: this command lets it start a server of its own, or add the URL in its settings.</p>`
    : html`<p>By hand, in <code>${entry.file}</code>:</p><pre id="${id}-entry">${entry.text}</pre>${copyButton(`${id}-entry`)}`
}
<p class="place">Then ${next}.</p></section>`;
}

const usualPort = '8737';

function copyButton(id: string): Html {
  return html`<button type="button" class="plain" data-copy="#${id}" hidden>Copy</button>`;
}
