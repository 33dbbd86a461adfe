import type { Activity, Interval } from '../activity.ts';
import type { Clients, ConsoleClient } from '../clients.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import { bytes, time } from './parts.ts';
import { plot } from './plot.ts';

/** Who is connected and what they called: how much over the last day, and the latest calls one by one. */
export function activityPage(activity: Activity, clients: Clients, now: number): Page {
  const intervals = activity.intervals(now);
  const points = (value: (interval: Interval) => number | undefined) =>
    intervals.map((interval) => ({ at: interval.at, value: value(interval) }));
  const isSampled = intervals.some(({ queue }) => queue !== undefined);
  return {
    title: 'Activity',
    body: html`<h1>Activity</h1>
<div id="activity" data-refresh="5000">
<div class="plots">
${plot(
  'Calls in ten minutes',
  points(({ calls }) => calls),
)}
${plot(
  'Failed calls in ten minutes',
  points(({ failures }) => failures),
)}
${plot(
  'Longest call',
  points(({ msMax }) => msMax),
  (ms) => `${Math.round(ms)} ms`,
)}
${
  isSampled &&
  html`${plot(
    'Files waiting',
    points(({ queue }) => queue),
  )}
${plot(
  'Storage',
  points(({ storageBytes }) => storageBytes),
  bytes,
)}`
}
</div>
<h2>Clients</h2>
${clientTable(clients.list())}
<h2>By tool</h2>
<table><thead><tr><th scope="col">Tool</th><th scope="col">Calls</th><th scope="col">Failed</th><th scope="col">Mean ms</th><th scope="col">Tokens</th></tr></thead>
<tbody>${activity.byTool().map(({ tool, calls, failures, msMean, tokens }) => html`<tr><td>${tool}</td><td>${calls}</td><td>${failures}</td><td>${msMean.toFixed(1)}</td><td>${tokens}</td></tr>`)}</tbody></table>
<h2>Latest calls</h2>
<table><thead><tr><th scope="col">Time</th><th scope="col">Tool</th><th scope="col">Client</th><th scope="col">ms</th><th scope="col">Tokens</th><th scope="col">Outcome</th></tr></thead>
<tbody>${activity.latest().map(({ at, tool, caller, client, ms, tokens, outcome }) => html`<tr tabindex="0"><td>${moment(at)}</td><td>${tool}</td><td>${client === '' ? caller : `${client}, ${caller}`}</td><td>${ms.toFixed(1)}</td><td>${tokens}</td><td class="state-${outcome === 'ok' ? 'good' : 'bad'}">${outcome}</td></tr>`)}</tbody></table>
</div>`,
  };
}

function clientTable(clients: readonly ConsoleClient[]): Html {
  if (clients.length === 0) return html`<p class="summary">None has connected since this server started.</p>`;
  return html`<table id="clients"><thead><tr><th scope="col">Client</th><th scope="col">From</th><th scope="col">State</th><th scope="col">Since</th><th scope="col">Calls</th><th scope="col">Last</th><th scope="col">Called</th></tr></thead>
<tbody>${clients.map(
    ({ name, version, transport, caller, since, connections, calls, failures, lastAt, tools }) =>
      html`<tr tabindex="0"><td>${name} ${version}</td><td>${caller}, ${transport}</td><td class="whole ${connections > 0 ? 'state-good' : ''}">${connections > 0 ? (connections === 1 ? 'connected' : `connected ${connections} times`) : 'not connected'}</td><td>${moment(since)}</td><td>${calls}${failures > 0 && `, ${failures} failed`}</td><td>${moment(lastAt)}</td><td>${tools.join(', ')}</td></tr>`,
  )}</tbody></table>`;
}

function moment(at: number): Html {
  return time(new Date(at).toISOString());
}
