import { read, type Visit } from '../console-tools.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import type { IconName } from '../parts/icon-shapes.ts';
import {
  badge,
  bytes,
  copyable,
  duration,
  facts,
  icon,
  linkButton,
  notice,
  number,
  pageHeader,
  plural,
  progress,
  stat,
  type Tone,
  time,
} from '../parts/parts.ts';

/** Facts about the process and its data folder, for visitors with full rights. */
export interface ServerFacts {
  version: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  memoryBytes: number;
  dataDir: string;
  /** Free space on the data folder's disk. */
  freeBytes?: number | undefined;
  lastBackup?: { at: string; file: string; bytes: number } | undefined;
}

type Answer = Record<string, unknown>;

interface SourceState {
  icon: IconName;
  title: string;
  state: readonly [label: string, tone: Tone];
  stats?: readonly Html[];
  facts?: readonly (readonly [name: Part, value: Part])[];
  /** Problems, each with what to do. */
  next?: readonly Html[];
  actions?: Html;
}

/** Shows the state of each source of this server and, if something is wrong, what to do. */
export async function sourcesPage({ tools }: Visit, server: ServerFacts | undefined): Promise<Page> {
  const ask = async (name: string, args: Answer = {}): Promise<Answer | Error | undefined> => {
    if (!tools.has(name)) return undefined;
    return tools.call(name, args).catch((error: unknown) => (error instanceof Error ? error : new Error('failed')));
  };
  const fessHealth = tools.names().find((name) => /^fess_\w+_health$/.test(name));
  const [kb, memory, notes, web, fess] = await Promise.all([
    ask('kb_status'),
    ask('get_statistics'),
    ask('list_notes', { limit: 1 }),
    ask('kb_sources'),
    fessHealth === undefined ? undefined : ask(fessHealth),
  ]);
  const states = [
    kb && knowledgeBase(kb),
    memory && memoryState(memory),
    notes && notesState(notes),
    web && webState(web),
    fess && fessState(fess),
    (kb ?? memory) && searchState(answered(kb), answered(memory)),
    server && serverState(server, answered(kb), answered(memory)),
  ].filter((each) => each !== undefined);
  const problems = states.filter(({ state: [, tone] }) => tone === 'bad' || tone === 'warn').length;
  return {
    title: 'Sources',
    body: html`${pageHeader({
      title: 'Sources',
      meta:
        problems === 0
          ? 'Everything works.'
          : `${plural(problems, 'source')} ${problems === 1 ? 'needs' : 'need'} attention.`,
    })}
<div id="sources" class="sources" data-refresh="10000">${states.map(stateCard)}</div>`,
  };
}

function stateCard({
  icon: sign,
  title,
  state: [label, tone],
  stats,
  facts: details,
  next,
  actions,
}: SourceState): Html {
  return html`<section class="card"><div class="card-header">${icon(sign)}<h2>${title}</h2>${badge(label, tone)}</div>
${stats && html`<div class="stats">${stats}</div>`}
${details && facts(details)}
${next?.map((each) => notice(each, tone === 'bad' ? 'bad' : tone === 'warn' ? 'warn' : 'info'))}
${actions && html`<div class="row">${actions}</div>`}</section>`;
}

function answered(answer: Answer | Error | undefined): Answer | undefined {
  return answer instanceof Error ? undefined : answer;
}

function failedState(icon: IconName, title: string, { message }: Error): SourceState {
  return { icon, title, state: ['Not available', 'bad'], next: [html`${message}`] };
}

function knowledgeBase(kb: Answer | Error): SourceState {
  const [sign, title] = ['database', 'Knowledge base'] as const;
  if (kb instanceof Error) return failedState(sign, title, kb);
  const queue = read.object(kb, 'queue');
  const [waiting, failed] = [count(queue, 'queued') + count(queue, 'processing'), count(queue, 'failed')];
  const documents = count(kb, 'documents');
  const degraded = read.text(kb, 'degraded');
  const next = [
    ...(degraded === '' ? [] : [html`${degraded}`]),
    ...(documents === 0 && waiting === 0 ? [html`Nothing is stored yet. <a href="/jobs">Add files</a>.`] : []),
  ];
  return {
    icon: sign,
    title,
    state: degraded !== '' ? ['Degraded', 'warn'] : waiting > 0 ? ['Processing', 'info'] : ['Ready', 'good'],
    stats: [
      stat('Documents', number(documents)),
      stat('Passages', number(count(kb, 'chunks'))),
      stat('Collections', number(count(kb, 'collections'))),
    ],
    facts: [
      ['Queue', waiting === 0 ? 'empty' : html`<a href="/jobs">${plural(waiting, 'file')} queued or processing</a>`],
      ...(failed === 0 ? [] : [['Failed', html`<a href="/jobs">${plural(failed, 'file')}</a>`] as const]),
      ['Deleted documents', read.object(kb, 'storage')['keeps_deleted'] === true ? 'kept for 30 days' : 'not kept'],
    ],
    ...(next.length > 0 ? { next } : {}),
  };
}

function memoryState(memory: Answer | Error): SourceState {
  const [sign, title] = ['brain', 'Memory'] as const;
  if (memory instanceof Error) return failedState(sign, title, memory);
  const entries = count(memory, 'total_entries');
  return {
    icon: sign,
    title,
    state: ['Ready', 'good'],
    stats: [
      stat('Entries', number(entries)),
      stat('Threads', number(count(memory, 'total_threads'))),
      stat('Tags', number(count(memory, 'unique_tags'))),
    ],
    facts: [['Images', number(count(memory, 'total_images'))], ...bySource(read.object(memory, 'by_source'))],
    ...(entries === 0 ? { next: [html`No entries yet. Agents store them with <code>store_context</code>.`] } : {}),
  };
}

function bySource(counts: Answer): [string, string][] {
  return Object.entries(counts)
    .slice(0, 4)
    .map(([name, value]) => [
      `From ${name === 'agent' ? 'agents' : name === 'user' ? 'users' : name}`,
      number(Number(value)),
    ]);
}

function notesState(notes: Answer | Error): SourceState {
  const [sign, title] = ['notebook-pen', 'Notes'] as const;
  if (notes instanceof Error) return failedState(sign, title, notes);
  return { icon: sign, title, state: ['Ready', 'good'], stats: [stat('Notes', number(count(notes, 'total_count')))] };
}

function webState(web: Answer | Error): SourceState {
  const [sign, title] = ['globe', 'Web sources'] as const;
  if (web instanceof Error) return failedState(sign, title, web);
  const sources = read.list(web, 'sources');
  const isRefreshing = sources.some((source) => read.text(source, 'status') === 'refreshing');
  const failing = sources.filter((source) => read.text(read.object(source, 'last_run'), 'status') === 'failed').length;
  const sum = (name: string): number => sources.reduce((total, source) => total + count(source, name), 0);
  return {
    icon: sign,
    title,
    state:
      failing > 0
        ? ['Failing', 'warn']
        : isRefreshing
          ? ['Refreshing', 'info']
          : sources.length === 0
            ? ['None', 'neutral']
            : ['Up to date', 'good'],
    stats: [
      stat('Sources', number(sources.length)),
      stat('Pages', number(sum('pages'))),
      stat('Documents', number(sum('documents'))),
    ],
    ...(failing > 0
      ? { next: [html`The last run of ${plural(failing, 'source')} failed. <a href="/web">See why</a>.`] }
      : {}),
  };
}

function fessState(fess: Answer | Error): SourceState {
  const [sign, title] = ['server', 'Fess'] as const;
  if (fess instanceof Error) {
    return {
      ...failedState(sign, title, fess),
      next: [html`${fess.message} Check its address with <code>carrel doctor</code>.`],
    };
  }
  const status = read.text(fess, 'status');
  const isGood = status === 'green' || status === 'yellow';
  return {
    icon: sign,
    title,
    state: isGood ? ['Ready', 'good'] : [status || 'Unknown', 'warn'],
    facts: [['Status', status]],
  };
}

/** Reports which search modes are available. */
function searchState(kb: Answer | undefined, memory: Answer | undefined): SourceState {
  const meaning = memory ? read.object(memory, 'semantic_search') : {};
  const reranking = memory ? read.object(memory, 'reranking') : {};
  const model = kb ? read.object(kb, 'model') : {};
  const name = read.text(model, 'name') || read.text(meaning, 'model');
  const isOff = name === '' && meaning['enabled'] !== true;
  const isDown = meaning['enabled'] === true && meaning['available'] === false;
  const waiting = (kb ? count(kb, 'unembedded') : 0) + count(meaning, 'pending_count');
  const total = (kb ? count(kb, 'chunks') : 0) + (memory ? count(memory, 'total_entries') : 0);
  const dimensions = read.number(model, 'dimensions') ?? read.number(meaning, 'dimensions');
  return {
    icon: 'search',
    title: 'Search',
    state: isDown ? ['Keyword only', 'warn'] : waiting > 0 && !isOff ? ['Indexing', 'info'] : ['Ready', 'good'],
    facts: [
      ['Keyword search', 'on'],
      [
        'Search by meaning',
        isOff
          ? 'off'
          : isDown
            ? 'the model does not answer'
            : html`${name}${dimensions !== undefined && html` <span class="meta">${dimensions} dimensions</span>`}`,
      ],
      ...(waiting > 0 && !isOff
        ? [['Vectors', progress(total - waiting, total, 'Passages with vectors')] as const]
        : []),
      ['Reranking', reranking['enabled'] === true ? read.text(reranking, 'model') || 'on' : 'off'],
    ],
    ...(isDown
      ? { next: [html`The embedding provider does not answer. Keyword search works. Run <code>carrel doctor</code>.`] }
      : isOff
        ? { next: [html`Search by meaning is off. Set <code>EMBEDDING_PROVIDER</code> to turn it on.`] }
        : {}),
  };
}

const backupAgeMaxMs = 7 * 86_400_000;
const freeBytesMin = 1_000_000_000;

function serverState(server: ServerFacts, kb: Answer | undefined, memory: Answer | undefined): SourceState {
  const { lastBackup, freeBytes } = server;
  const storage = kb ? read.object(kb, 'storage') : {};
  const backend = read.text(storage, 'backend') || (memory ? read.text(memory, 'backend') : '');
  const megabytes = memory ? read.number(memory, 'database_size_mb') : undefined;
  const size = read.number(storage, 'bytes') ?? (megabytes === undefined ? undefined : megabytes * 1_000_000);
  const isFull = freeBytes !== undefined && freeBytes < freeBytesMin;
  const isOld = lastBackup === undefined || Date.now() - Date.parse(lastBackup.at) > backupAgeMaxMs;
  return {
    icon: 'hard-drive',
    title: 'Server',
    state: isFull ? ['Disk almost full', 'bad'] : isOld ? ['No recent backup', 'warn'] : ['Ready', 'good'],
    facts: [
      [
        'Database',
        html`${{ sqlite: 'SQLite', postgres: 'PostgreSQL', postgresql: 'PostgreSQL' }[backend] ?? backend}${size !== undefined && html` <span class="meta">${bytes(size)}</span>`}`,
      ],
      ...(freeBytes === undefined ? [] : [['Free on disk', bytes(freeBytes)] as const]),
      [
        'Last backup',
        lastBackup === undefined
          ? 'none found'
          : html`${time(lastBackup.at)} <span class="meta">${bytes(lastBackup.bytes)}</span>`,
      ],
      ['Data folder', copyable('data-folder', server.dataDir)],
      ['Version', server.version],
      ['Running for', duration(Date.now() - server.startedAt)],
      ['Memory', bytes(server.memoryBytes)],
    ],
    ...(isFull
      ? { next: [html`Free some space: writes fail when the disk is full.`] }
      : isOld
        ? {
            next: [
              html`Make a backup while the server runs: ${copyable('backup-command', 'carrel backup carrel.tar')}`,
            ],
          }
        : {}),
    actions: linkButton('/settings', 'Settings', { icon: 'settings', isSmall: true }),
  };
}

function count(from: Answer, name: string): number {
  return read.number(from, name) ?? 0;
}
