import type { Activity, Interval } from '../activity.ts';
import type { Clients, ConsoleClient } from '../clients.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import { badge, bytes, duration, emptyState, number, pageHeader, table, time } from '../parts/parts.ts';
import { plot } from './plot.ts';

/** Who is connected and what they called: how much over the last day, and the latest calls one by one. */
export function activityPage(activity: Activity, clients: Clients, now: number): Page {
  const intervals = activity.intervals(now);
  const points = (value: (interval: Interval) => number | undefined) =>
    intervals.map((interval) => ({ at: interval.at, value: value(interval) }));
  const isSampled = intervals.some(({ queue }) => queue !== undefined);
  return {
    title: 'Activity',
    body: html`${pageHeader({ title: 'Activity' })}
<div id="activity" class="stack" data-refresh="5000">
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
${table({
  caption: 'Calls by tool',
  columns: [
    { label: 'Tool' },
    { label: 'Calls', isNumber: true },
    { label: 'Failed', isNumber: true },
    { label: 'Mean time', isNumber: true },
    { label: 'Tokens', isNumber: true },
  ],
  rows: activity
    .byTool()
    .map(({ tool, calls, failures, msMean, tokens }) => [
      tool,
      number(calls),
      number(failures),
      duration(msMean),
      number(tokens),
    ]),
})}
<h2>Latest calls</h2>
${table({
  caption: 'Latest calls',
  columns: [
    { label: 'Tool' },
    { label: 'Client' },
    { label: 'Result' },
    { label: 'Took', isNumber: true },
    { label: 'Tokens', isNumber: true },
    { label: 'When', isWhole: true },
  ],
  rows: activity
    .latest()
    .map(({ at, tool, caller, client, ms, tokens, outcome }) => [
      tool,
      client === '' ? caller : `${client}, ${caller}`,
      badge(outcome, outcome === 'ok' ? 'good' : 'bad'),
      duration(ms),
      number(tokens),
      moment(at),
    ]),
})}
</div>`,
  };
}

function clientTable(clients: readonly ConsoleClient[]): Html {
  if (clients.length === 0) {
    return emptyState({
      icon: 'plug',
      title: 'No clients yet',
      text: 'Clients that connect to this server appear here.',
    });
  }
  return table({
    id: 'clients',
    caption: 'Clients',
    columns: [
      { label: 'Client' },
      { label: 'From' },
      { label: 'State', isWhole: true },
      { label: 'Since', isWhole: true },
      { label: 'Calls', isNumber: true },
      { label: 'Last', isWhole: true },
      { label: 'Called' },
    ],
    rows: clients.map(({ name, version, transport, caller, since, connections, calls, failures, lastAt, tools }) => [
      `${name} ${version}`,
      `${caller}, ${transport}`,
      connections > 0
        ? badge(connections === 1 ? 'connected' : `connected ${connections} times`, 'good')
        : badge('not connected'),
      moment(since),
      `${number(calls)}${failures > 0 ? `, ${number(failures)} failed` : ''}`,
      moment(lastAt),
      tools.join(', '),
    ]),
  });
}

function moment(at: number): Html {
  return time(new Date(at).toISOString());
}
