import type { ConsoleClient } from '../clients.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import { badge, button, card, copyable, notice, pageHeader, time } from '../parts/parts.ts';
import { clientTable } from './activity.ts';

/** How to connect one client to this server. */
export interface ConnectSnippet {
  /** The client's name in `carrel init`. */
  id: string;
  title: string;
  /** The entry for its configuration file. Undefined if the file can't hold a URL. */
  entry?: { file: string; text: string };
  /** What to do after adding the entry. */
  next: string;
}

export interface ConnectOptions {
  /** The URL of the MCP endpoint. */
  url: string;
  needsToken: boolean;
  snippets: readonly ConnectSnippet[];
  /** Clients that have called; undefined for visitors with restricted rights. */
  clients: readonly ConsoleClient[] | undefined;
  mayAddToken: boolean;
}

/** Shows how to connect a client, and which clients have called. */
export function connectPage({ url, needsToken, snippets, clients, mayAddToken }: ConnectOptions): Page {
  const port = URL.parse(url)?.port ?? '';
  const flags = port === '' || port === defaultPort ? '' : ` --port ${port}`;
  return {
    title: 'Connect',
    body: html`${pageHeader({ title: 'Connect a client', meta: 'Copy the entry into the configuration file of your client, or let carrel init write it.' })}
<div class="stack">
${card(html`<div class="row"><span class="label">MCP endpoint</span>${copyable('url', url)}</div>
${
  needsToken &&
  html`<p class="meta">Clients send their token as <code>Authorization: Bearer</code>. The entries below have a placeholder: replace it with your token. ${mayAddToken && html`<a href="/tokens/new">Add a token</a>`}</p>`
}`)}
<div class="grid clients">${snippets.map((snippet) => clientCard(snippet, flags, findClient(snippet, clients ?? [])))}</div>
<p class="meta">From a checkout, <code>carrel</code> is <code>npx node bin/carrel.js</code>. <code>carrel init</code> keeps a backup of each file it changes.</p>
${
  clients &&
  html`<h2>Clients that have called</h2>
${clients.length === 0 ? notice('No client has called since this server started.') : clientTable(clients)}`
}</div>`,
  };
}

/** Patterns for the names that clients give themselves. These names are not verified. */
const names: Readonly<Record<string, RegExp>> = {
  'claude-code': /^claude[- ]code/i,
  'claude-desktop': /^claude[- ](?:ai|desktop)/i,
  vscode: /visual studio code|^vscode/i,
};

function findClient({ id }: ConnectSnippet, clients: readonly ConsoleClient[]): ConsoleClient | undefined {
  const pattern = names[id];
  return clients.find(({ name }) => pattern?.test(name) ?? name.toLowerCase().startsWith(id));
}

function clientCard(
  { id, title, entry, next }: ConnectSnippet,
  flags: string,
  client: ConsoleClient | undefined,
): Html {
  const command = entry === undefined ? `carrel init ${id}` : `carrel init ${id} --http${flags}`;
  return html`<section class="card client" aria-label="${title}"><div class="card-header"><h2>${title}</h2>${client && statusBadge(client)}</div>
${copyable(`${id}-command`, command)}
${
  entry === undefined
    ? html`<p class="meta">Its configuration file does not accept a URL. This command makes the client start its own server. Or add the URL in the client's settings.</p>`
    : html`<div class="row">${button('Copy entry', { icon: 'copy', isSmall: true, attributes: { type: 'button', 'data-copy': `#${id}-entry`, hidden: true } })}<span class="meta">for <code>${entry.file}</code></span></div>
<details><summary class="meta">Show entry</summary><pre id="${id}-entry">${entry.text}</pre></details>`
}
<p class="meta">Then ${next}.</p></section>`;
}

function statusBadge({ connections, calls, lastAt }: ConsoleClient): Html {
  if (connections > 0) return badge('Connected', 'good', 'circle-check');
  return badge(calls > 0 ? html`Called ${time(new Date(lastAt).toISOString())}` : 'Seen', 'neutral', 'check');
}

const defaultPort = '8737';
