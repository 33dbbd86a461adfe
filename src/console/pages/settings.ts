import type { Visit } from '../console-tools.ts';
import { Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  bytes,
  card,
  checkbox,
  copyable,
  duration,
  emptyState,
  facts,
  field,
  pageHeader,
  plural,
} from '../parts/parts.ts';

export interface ShownSetting {
  path: string;
  /** The value, with secrets masked. */
  value: string;
  source: string;
}

const areas: Readonly<Record<string, string>> = {
  http: 'HTTP server',
  oauth: 'OAuth',
  tools: 'Tools',
  sharing: 'Shared process',
  log: 'Log',
  telemetry: 'Telemetry',
  storage: 'Database',
  embedding: 'Search by meaning',
  reranking: 'Reranking',
  context: 'Memory',
  research: 'Research',
  engine: 'Ingestion',
  crawl: 'Web sources',
  kb: 'Knowledge base',
  fess: 'Fess',
};

/** Shows the effective settings by area, each with its source. */
export function settingsPage({ query }: Visit, settings: readonly ShownSetting[], dataDir: string): Page {
  const text = query.get('q') ?? '';
  const showsOnlySet = query.get('changed') !== null;
  const searchText = text.toLowerCase();
  const matches = settings.filter(
    ({ path, value, source }) =>
      (!showsOnlySet || source !== 'default') && `${path} ${value} ${source}`.toLowerCase().includes(searchText),
  );
  const groups = [...Map.groupBy(matches, ({ path }) => path.split('.', 1)[0] ?? '')];
  return {
    title: 'Settings',
    body: html`${pageHeader({
      title: 'Settings',
      meta: html`${plural(settings.length, 'setting')}, ${settings.filter(isSet).length} set by you. They are read at startup; <code>carrel config</code> shows where each comes from.`,
      actions: html`<span class="meta">Data folder</span>${copyable('data-folder', dataDir)}`,
    })}
<form class="filters" method="get" action="/settings" data-live="#list">
${field({ label: 'Find', name: 'q', type: 'search', value: text, placeholder: 'Name, value or source', icon: 'search', hidesLabel: true })}
${checkbox('Only those set by you', 'changed', { isChecked: showsOnlySet })}
<noscript><button class="button secondary"><span>Filter</span></button></noscript></form>
<div id="list" class="stack areas">${
      groups.length === 0
        ? emptyState({ icon: 'settings', title: 'No settings match' })
        : html`${searchText === '' && !showsOnlySet && ownCard(settings.filter(isSet))}${groups.map(([area, found]) => areaCard(area, found, searchText !== '' || showsOnlySet))}`
    }</div>`,
  };
}

function ownCard(settings: readonly ShownSetting[]): Html {
  if (settings.length === 0) return html``;
  return card(factsOf(settings), { title: 'Set by you' });
}

function factsOf(settings: readonly ShownSetting[]): Html {
  return facts(
    settings.map((setting) => [html`<code>${setting.path}</code>`, html`<span>${shownValue(setting)}</span>`]),
  );
}

function areaCard(area: string, settings: readonly ShownSetting[], isOpen: boolean): Html {
  const changed = settings.filter(isSet).length;
  return html`<details class="card area"${isOpen && new Html(' open')}><summary><h2>${areas[area] ?? area}</h2><span class="meta">${plural(settings.length, 'setting')}</span>${changed > 0 && badge(`${changed} set by you`, 'accent')}</summary>
${factsOf(settings)}</details>`;
}

function isSet({ source }: ShownSetting): boolean {
  return source !== 'default';
}

function shownValue(setting: ShownSetting): Part {
  const { path, value, source } = setting;
  const formatted = formatValue(path, value);
  return html`${value === '–' || value === '' ? html`<span class="meta">not set</span>` : value}${formatted !== value && html` <span class="meta">${formatted}</span>`}${isSet(setting) && html` ${badge(source, 'accent')}`}`;
}

/** Formats large numbers as sizes or durations. */
function formatValue(path: string, value: string): string {
  const count = Number(value);
  if (!/^\d{4,}$/.test(value)) return value;
  if (/Bytes(?:Max|PerClient)?$/.test(path)) return bytes(count);
  return /Ms$/.test(path) ? duration(count) : value;
}
