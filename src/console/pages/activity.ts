import { type Activity, type CallFilter, type CallRecord, clientOf, type Interval } from '../activity.ts';
import type { Clients, ConsoleClient } from '../clients.ts';
import type { Visit } from '../console-tools.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  bytes,
  duration,
  emptyState,
  field,
  linkButton,
  number,
  offsetOf,
  pageHeader,
  pager,
  plot,
  plural,
  select,
  table,
  tabs,
  time,
} from '../parts/parts.ts';

export interface ActivityDeps {
  activity: Activity;
  clients: Clients;
}

const limit = 50;
const refreshMs = 3_000;

/** Shows the calls of all clients, with figures and filters. Visitors with restricted rights see only their own calls. */
export function activityPage(
  { query }: Visit,
  deps: ActivityDeps,
  { now, owner }: { now: number; owner: string | undefined },
): Page {
  if (owner !== undefined) return ownCallsPage(query, deps.activity, owner);
  const view = viewOf(query.get('view'));
  return {
    title: 'Activity',
    layout: 'wide',
    body: html`${pageHeader({
      title: 'Activity',
      meta: 'Calls of clients and their results since this server started. Updates every few seconds.',
    })}
<div id="plots" class="plots" data-refresh="${refreshMs}">${plots(deps.activity, now)}</div>
${tabs(
  'Activity',
  views.map((each) => ({ href: `/activity?view=${each}`, label: names[each], isCurrent: each === view })),
)}
${content[view](query, deps)}`,
  };
}

function ownCallsPage(query: URLSearchParams, activity: Activity, owner: string): Page {
  return {
    title: 'Activity',
    layout: 'wide',
    body: html`${pageHeader({ title: 'Activity', meta: 'Calls with your token and their results since this server started.' })}
${calls(query, activity, owner)}`,
  };
}

const views = ['calls', 'tools', 'clients'] as const;
type View = (typeof views)[number];
const names: Record<View, string> = { calls: 'Calls', tools: 'By tool', clients: 'Clients' };

function viewOf(requested: string | null): View {
  return views.find((each) => each === requested) ?? 'calls';
}

const content: Record<View, (query: URLSearchParams, deps: ActivityDeps) => Html> = {
  calls: (query, { activity }) => calls(query, activity),
  tools: (_, { activity }) => html`<div id="list" data-refresh="${refreshMs}">${toolTable(activity)}</div>`,
  clients: (_, { clients }) => html`<div id="list" data-refresh="${refreshMs}">${clientTable(clients.list())}</div>`,
};

function plots(activity: Activity, now: number): Html {
  const intervals = activity.intervals(now);
  const points = (value: (interval: Interval) => number | undefined) =>
    intervals.map((interval) => ({ at: interval.at, value: value(interval) }));
  const total = (value: (interval: Interval) => number): number =>
    intervals.reduce((sum, interval) => sum + value(interval), 0);
  const latest = intervals.findLast(({ storageBytes }) => storageBytes !== undefined);
  const [calls, failures] = [total((each) => each.calls), total((each) => each.failures)];
  const longest = Math.max(0, ...intervals.map(({ msMax }) => msMax));
  return html`${plot({
    name: 'Calls',
    points: intervals.map((each) => ({ at: each.at, value: each.calls, bad: each.failures })),
    summary: `${number(calls)} in 24 h${failures > 0 ? `, ${number(failures)} failed` : ''}`,
  })}
${plot({ name: 'Longest call', unit: 'ms', points: points((each) => each.msMax), summary: duration(longest) })}
${
  latest &&
  html`${plot({ name: 'Files waiting', points: points((each) => each.queue), summary: number(latest.queue ?? 0) })}
${plot({
  name: 'Storage',
  unit: 'bytes',
  kind: 'line',
  points: points((each) => each.storageBytes),
  summary: bytes(latest.storageBytes ?? 0),
})}`
}`;
}

function calls(query: URLSearchParams, activity: Activity, owner?: string): Html {
  return html`${filters(query, activity.latest({ owner }))}
<div id="list" data-refresh="${refreshMs}">${callList(query, activity, owner)}</div>`;
}

function filters(query: URLSearchParams, calls: readonly CallRecord[]): Html {
  const choices = (keyOf: (call: CallRecord) => string) =>
    [...Map.groupBy(calls, keyOf)]
      .map(([value, found]) => ({ value, count: found.length }))
      .toSorted((a, b) => b.count - a.count);
  const value = (name: string): string => query.get(name) ?? '';
  return html`<form class="filters" method="get" action="/activity" data-live="#list">
${field({ label: 'Find', name: 'q', type: 'search', value: value('q'), placeholder: 'Query, tool or caller', icon: 'search', hidesLabel: true })}
${select({ label: 'Tool', name: 'tool', value: value('tool'), all: 'All tools', hidesLabel: true, options: choices(({ tool }) => tool) })}
${select({ label: 'Client', name: 'client', value: value('client'), all: 'All clients', hidesLabel: true, options: choices(clientOf) })}
${select({
  label: 'Result',
  name: 'outcome',
  value: value('outcome'),
  all: 'All results',
  hidesLabel: true,
  options: [
    { value: 'ok', label: 'Succeeded' },
    { value: 'failed', label: 'Failed' },
  ],
})}
<noscript><button class="button secondary"><span>Filter</span></button></noscript></form>`;
}

function callList(query: URLSearchParams, activity: Activity, owner: string | undefined): Html {
  const filter: CallFilter = {
    owner,
    text: query.get('q') ?? '',
    tool: query.get('tool') ?? '',
    client: query.get('client') ?? '',
    outcome: (['ok', 'failed'] as const).find((each) => each === query.get('outcome')),
  };
  const found = activity.latest(filter);
  if (found.length === 0) return noCalls([...query.keys()].length > 0);
  const offset = Math.min(offsetOf(query), found.length - 1);
  return html`${table({
    caption: 'Latest calls',
    columns: [
      { label: 'Call' },
      { label: 'Result', noWrap: true },
      { label: 'Took', isNumber: true },
      { label: 'Tokens', isNumber: true, isExtra: true },
      { label: 'Client' },
      { label: 'When', noWrap: true },
    ],
    rows: found.slice(offset, offset + limit).map(callRow),
  })}
${pager('/activity', query, { offset, limit, total: found.length })}`;
}

function callRow(call: CallRecord): Part[] {
  const { at, tool, query, results, outcome, ms, tokens, caller, client } = call;
  return [
    html`<span class="query"><code>${tool}</code> ${query}</span>`,
    outcome !== 'ok'
      ? html`<span title="${outcome}">${badge(formatCode(outcome), 'bad')}</span>`
      : results === undefined
        ? 'Done'
        : plural(results, 'result'),
    duration(ms),
    number(tokens),
    clientCell(client, caller),
    moment(at),
  ];
}

/** Renders the client's name and, if it has a token, the token's name. The full caller is shown on hover. */
function clientCell(client: string, caller: string): Html {
  const isToken = caller.startsWith('token ') && client !== '';
  return html`<span title="${caller}">${client === '' ? caller : client}${isToken && html` <span class="meta">${caller.slice('token '.length)}</span>`}</span>`;
}

/** Turns a code such as `rate_limit_exceeded` into "Rate limit exceeded". */
function formatCode(code: string): string {
  const words = code.replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function noCalls(isFiltered: boolean): Html {
  return isFiltered
    ? emptyState({ icon: 'search', title: 'No calls match', text: 'Change the filters to see others.' })
    : emptyState({
        icon: 'activity',
        title: 'No calls yet',
        text: 'Calls of connected clients appear here as they happen.',
        actions: linkButton('/connect', 'Connect a client', { icon: 'plug' }),
      });
}

function toolTable(activity: Activity): Html {
  const figures = activity.byTool();
  if (figures.length === 0) return noCalls(false);
  return table({
    caption: 'Calls by tool',
    columns: [
      { label: 'Tool' },
      { label: 'Calls', isNumber: true },
      { label: 'Failed', isNumber: true },
      { label: 'Average time', isNumber: true },
      { label: 'Tokens', isNumber: true },
    ],
    rows: figures.map(({ tool, calls, failures, msMean, tokens }) => [
      html`<a href="/activity?tool=${encodeURIComponent(tool)}"><code>${tool}</code></a>`,
      number(calls),
      failures === 0 ? '0' : badge(number(failures), 'bad'),
      duration(msMean),
      number(tokens),
    ]),
  });
}

export function clientTable(clients: readonly ConsoleClient[]): Html {
  if (clients.length === 0) {
    return emptyState({
      icon: 'plug',
      title: 'No clients yet',
      text: 'Clients that connect to this server appear here.',
      actions: linkButton('/connect', 'Connect a client', { icon: 'plug' }),
    });
  }
  return table({
    id: 'clients',
    caption: 'Clients',
    columns: [
      { label: 'Client' },
      { label: 'From' },
      { label: 'State', noWrap: true },
      { label: 'Calls', isNumber: true },
      { label: 'Failed', isNumber: true },
      { label: 'Last call', noWrap: true },
      { label: 'Tools', isExtra: true },
    ],
    rows: clients.map(({ name, version, transport, caller, connections, calls, failures, lastAt, tools }) => [
      html`<span>${name} <span class="meta">${version}</span></span>`,
      html`<span>${caller} <span class="meta">${transport === 'http' ? 'HTTP' : 'stdio'}</span></span>`,
      connections > 0
        ? badge(connections === 1 ? 'Connected' : `Connected ${number(connections)} times`, 'good')
        : badge('Not connected'),
      number(calls),
      failures === 0 ? '0' : badge(number(failures), 'bad'),
      calls === 0 ? 'never' : moment(lastAt),
      html`<span class="meta">${tools.join(', ')}</span>`,
    ]),
  });
}

function moment(at: number): Html {
  return time(new Date(at).toISOString());
}
