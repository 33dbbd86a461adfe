import { isObject } from '../../base/json.ts';
import type { Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import { card, copyable, facts, pageHeader, table } from '../parts/parts.ts';

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
    body: html`${pageHeader({ title: 'Sources' })}<div class="stack">${answers.map(([name, answer]) => card(factsOf(answer), { title: names[name] ?? name }))}</div>`,
  };
}

async function orProblem(answer: Promise<Record<string, unknown>>): Promise<Record<string, unknown>> {
  return await answer.catch((error: unknown) => ({ problem: error instanceof Error ? error.message : 'failed' }));
}

function factsOf(from: Record<string, unknown>): Html {
  return facts(Object.entries(from).map(([name, value]) => [name.replaceAll('_', ' '), shown(value)]));
}

function shown(value: unknown): Html {
  if (Array.isArray(value)) return html`<ul>${value.slice(0, 20).map((each) => html`<li>${shown(each)}</li>`)}</ul>`;
  if (isObject(value)) return factsOf(value);
  return html`${value === null ? '–' : String(value)}`;
}

/** The settings in force, and where each came from. */
export function settingsPage(settings: readonly ShownSetting[], dataDir: string): Page {
  return {
    title: 'Settings',
    body: html`${pageHeader({ title: 'Settings', meta: html`Data folder: <code>${dataDir}</code>` })}
${table({
  caption: 'Settings',
  columns: [{ label: 'Setting' }, { label: 'Value' }, { label: 'From', isWhole: true }],
  rows: settings.map(({ path, value, source }) => [html`<code>${path}</code>`, value, source]),
})}`,
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
    body: html`${pageHeader({ title: 'Connect a client' })}<div class="stack">
<p>MCP is at ${copyable('url', url)}${needsToken && html`, with the token in <code>Authorization: Bearer</code>`}.</p>
<p><code>carrel init</code> writes the entry into the client's file and keeps a backup. From a checkout it is <code>npx node bin/carrel.js init</code>.</p>
${snippets.map((snippet) => clientSection(snippet, flags))}</div>`,
  };
}

function clientSection({ id, title, entry, next }: ConnectSnippet, flags: string): Html {
  const command = entry === undefined ? `carrel init ${id}` : `carrel init ${id} --http${flags}`;
  return html`<section class="card client" aria-label="${title}"><h2>${title}</h2>
<p>${copyable(`${id}-command`, command)}</p>
${
  entry === undefined
    ? html`<p>Its file takes no URL: this command lets it start a server of its own, or add the URL in its settings.</p>`
    : html`<p>By hand, in <code>${entry.file}</code>:</p>${copyable(`${id}-entry`, entry.text, { isBlock: true })}`
}
<p class="meta">Then ${next}.</p></section>`;
}

const usualPort = '8737';
