import { isObject } from '../../base/json.ts';
import { makeSnippet } from '../../words/snippet.ts';
import { plainQuery } from '../../words/word-query.ts';
import type { CommandLine } from '../command-line.ts';
import { openFile } from './open-file.ts';
import {
  date,
  list,
  number,
  path,
  printAnswerHints,
  printHint,
  type Row,
  rowsOf,
  type ShownColumn,
  show,
  text,
} from './show.ts';
import { numberFlag, type OpenTools, textFlag, withoutUndefined, withTools } from './with-tools.ts';

/** A command that calls one tool and prints a list from its answer as a table. */
interface Listing {
  readonly toolset: string;
  readonly tool: string;
  arguments(line: CommandLine): Record<string, unknown>;
  /** The answer's keys for the list and the total. */
  readonly list: string;
  readonly total?: string;
  columns(line: CommandLine, rows: readonly Row[]): readonly ShownColumn[];
  /** Shown instead of an empty table. */
  readonly emptyText: string;
  /** Prints hints from the answer's other fields. */
  printHints?(answer: Row): void;
}

const find: Listing = {
  toolset: 'find',
  tool: 'find',
  arguments: (line) => ({ query: queryOf(line), sources: line.lists['source'], limit: numberFlag(line, 'limit') }),
  list: 'results',
  columns: (_, hits) => [
    relevanceColumn(hits),
    { title: 'SOURCE', cell: ({ source }) => text(source) },
    { title: 'TITLE', weight: 2, lines: 2, cell: ({ title }) => text(title) },
    { title: 'PASSAGE', weight: 4, lines: 3, cell: ({ snippet }) => text(snippet) },
    // Never truncated, because `carrel get` needs all of it.
    { title: 'URI', cell: ({ uri }) => text(uri) },
  ],
  emptyText: 'nothing found',
  printHints(answer) {
    printAnswerHints(answer);
    for (const { source, status, message } of rowsOf(answer['sources'])) {
      if (status === 'failed' || status === 'degraded') printHint(`${text(source)} ${text(status)}: ${text(message)}`);
    }
  },
};

const search: Listing = {
  toolset: 'kb',
  tool: 'kb_search',
  arguments: (line) => ({
    query: queryOf(line),
    top: numberFlag(line, 'limit'),
    collection: textFlag(line, 'collection'),
    tags: line.lists['tag'],
  }),
  list: 'results',
  columns(line, hits) {
    const words = plainQuery(queryOf(line));
    return [
      relevanceColumn(hits),
      { title: 'PATH', weight: 2, keepEnd: true, cell: (hit) => path(hit['source_path']) || text(hit['title']) },
      { title: 'PAGE', cell: (hit) => pageOrLines(hit['chunk_metadata']) },
      {
        title: 'PASSAGE',
        weight: 5,
        lines: 3,
        cell: (hit) => makeSnippet(text(hit['text']), words, snippetUnits).text,
      },
      { title: 'ID', align: 'right', cell: (hit) => text(hit['document_id']) },
    ];
  },
  emptyText: 'nothing found',
  printHints: printAnswerHints,
};

const documents: Listing = {
  toolset: 'kb',
  tool: 'kb_list',
  arguments: (line) => ({
    collection: textFlag(line, 'collection'),
    tag: line.lists['tag']?.join(','),
    type: textFlag(line, 'type'),
    query: queryOf(line) || undefined,
    ...pageArguments(line),
  }),
  list: 'documents',
  total: 'total',
  columns: () => [
    { title: 'ID', align: 'right', cell: (each) => text(each['document_id']) },
    { title: 'TITLE', weight: 3, cell: ({ title }) => text(title) },
    { title: 'TYPE', cell: ({ type }) => text(type) },
    { title: 'COLLECTION', weight: 1, cell: ({ collection }) => text(collection) },
    { title: 'TAGS', weight: 1, cell: ({ tags }) => list(tags) },
    { title: 'PATH', weight: 3, keepEnd: true, cell: (each) => path(each['source_path']) },
    { title: 'ADDED', cell: (each) => date(each['created_at']) },
  ],
  emptyText: 'no documents',
};

const jobs: Listing = {
  toolset: 'kb',
  tool: 'kb_jobs',
  arguments: (line) => ({ job_id: line.args[0], status: textFlag(line, 'status'), ...pageArguments(line) }),
  list: 'jobs',
  total: 'total',
  columns: () => [
    { title: 'JOB', align: 'right', cell: (job) => text(job['job_id']) },
    { title: 'STATUS', cell: ({ status }) => text(status) },
    { title: 'PROGRESS', cell: ({ status, progress }) => (status === 'done' ? '' : progressText(progress)) },
    { title: 'FILE', weight: 3, keepEnd: true, cell: ({ filename }) => text(filename) },
    { title: 'ID', align: 'right', cell: (job) => text(job['document_id']) },
    { title: 'UPDATED', cell: (job) => date(job['updated_at']) },
    { title: 'ERROR', weight: 3, lines: 3, cell: ({ error }) => text(error) },
  ],
  emptyText: 'no jobs',
};

const notes: Listing = {
  toolset: 'research',
  tool: 'list_notes',
  arguments: (line) => ({ query: queryOf(line) || undefined, tags: line.lists['tag'], ...pageArguments(line) }),
  list: 'notes',
  total: 'total_count',
  columns: () => [
    { title: 'RELEVANCE', align: 'right', cell: ({ relevance }) => number(relevance) },
    { title: 'TITLE', weight: 2, lines: 2, cell: ({ title }) => text(title) },
    { title: 'TAGS', weight: 1, lines: 2, cell: ({ tags }) => list(tags) },
    { title: 'PASSAGE', weight: 3, lines: 3, cell: ({ snippet }) => text(snippet) },
    { title: 'CREATED', cell: (note) => date(note['created_at']) },
    // Never truncated, because `carrel get` needs all of it.
    { title: 'ID', cell: ({ id }) => text(id) },
  ],
  emptyText: 'no notes',
};

const threads: Listing = {
  toolset: 'context',
  tool: 'list_threads',
  arguments: pageArguments,
  list: 'threads',
  total: 'total_threads',
  columns: () => [
    { title: 'THREAD', weight: 1, cell: (each) => text(each['thread_id']) },
    { title: 'ENTRIES', align: 'right', cell: (each) => text(each['entry_count']) },
    { title: 'FIRST', cell: (each) => date(each['first_entry']) },
    { title: 'LAST', cell: (each) => date(each['last_entry']) },
  ],
  emptyText: 'no threads',
};

/** The entries of one thread. */
const thread: Listing = {
  toolset: 'context',
  tool: 'search_context',
  arguments: (line) => ({ thread_id: line.args[0], ...pageArguments(line) }),
  list: 'results',
  columns: () => [
    { title: 'ID', align: 'right', cell: ({ id }) => text(id) },
    { title: 'CREATED', cell: (entry) => date(entry['created_at']) },
    { title: 'SOURCE', cell: ({ source }) => text(source) },
    { title: 'TAGS', weight: 1, lines: 2, cell: ({ tags }) => list(tags) },
    { title: 'TEXT', weight: 4, lines: 3, cell: (entry) => text(entry['text_content']) },
  ],
  emptyText: 'no entries in this thread',
  printHints(answer) {
    if (answer['has_more'] === true) printHint('there are more: use --limit and --offset');
  },
};

const listings: Readonly<Record<string, Listing>> = { find, jobs, list: documents, notes, search, threads };

/** `carrel find`, `jobs`, `list`, `notes`, `search` and `threads`. */
export async function listingCommand(line: CommandLine, open: OpenTools): Promise<void> {
  const listing = line.command === 'threads' && line.args.length > 0 ? thread : listings[line.command];
  if (listing === undefined) throw new Error(`${line.command} is not a listing command`);
  const args = withoutUndefined(listing.arguments(line));
  const answer: Row = await withTools(open, line, listing.toolset, (tools) => tools.call(listing.tool, args));
  const rows = rowsOf(answer[listing.list]);
  show(line, answer, listing.columns(line, rows), rows, listing.emptyText);
  const total = listing.total === undefined ? undefined : answer[listing.total];
  if (typeof total === 'number' && total > rows.length) {
    printHint(`${rows.length} of ${total}; use --limit and --offset for the others`);
  }
  listing.printHints?.(answer);
  if (line.flags['open'] === true) openFile(rows[0]?.['source_path']);
}

const snippetUnits = 240;

function queryOf({ args }: CommandLine): string {
  return args.join(' ');
}

function pageArguments(line: CommandLine): Record<string, unknown> {
  return { limit: numberFlag(line, 'limit'), offset: numberFlag(line, 'offset') };
}

function relevanceColumn(hits: readonly Row[]): ShownColumn {
  const title = hits.some((hit) => 'relevance' in hit) ? 'RELEVANCE' : 'SCORE';
  return { title, align: 'right', cell: ({ relevance, score }) => number(relevance ?? score) };
}

function progressText(value: unknown): string {
  if (!isObject(value)) return text(value);
  const { phase, done, total } = value;
  const part = typeof done === 'number' && typeof total === 'number' && total > 0 ? ` ${done}/${total}` : '';
  return `${text(phase)}${part}`;
}

export function pageOrLines(metadata: unknown): string {
  if (!isObject(metadata)) return '';
  const { page, line_start: first, line_end: last } = metadata;
  if (typeof page === 'number') return String(page);
  if (typeof first !== 'number') return '';
  return typeof last === 'number' && last !== first ? `l.${first}-${last}` : `l.${first}`;
}
