import type { CommandLine } from '../command-line.ts';
import type { Column } from '../terminal/table.ts';
import { ask, given, listFlag, numberFlag, textFlag } from './ask.ts';
import { date, list, number, type Row, remark, rowsOf, show, text } from './show.ts';

/** `carrel jobs [id]`: kb_jobs. */
export async function jobsCommand(line: CommandLine): Promise<void> {
  const args = given({ job_id: line.words[0], status: textFlag(line, 'status'), ...page(line) });
  const answer = await ask(line, 'kb', (tools) => tools.call('kb_jobs', args));
  const jobs = rowsOf(answer['jobs']);
  const rows = jobs.map((job) => [
    text(job['job_id']),
    text(job['status']),
    job['status'] === 'done' ? '' : progress(job['progress']),
    text(job['filename']),
    text(job['document_id']),
    date(job['updated_at']),
    text(job['error']),
  ]);
  show(line, answer, jobColumns, rows, 'no jobs');
  tellMore(jobs.length, answer['total']);
}

const jobColumns: Column[] = [
  { title: 'JOB', align: 'right' },
  { title: 'STATUS' },
  { title: 'PROGRESS' },
  { title: 'FILE', share: 3, kept: 'end' },
  { title: 'ID', align: 'right' },
  { title: 'UPDATED' },
  { title: 'ERROR', share: 3, lines: 3 },
];

function progress(value: unknown): string {
  if (typeof value !== 'object' || value === null) return text(value);
  const { phase, done, total } = value as Row;
  const part = typeof done === 'number' && typeof total === 'number' && total > 0 ? ` ${done}/${total}` : '';
  return `${text(phase)}${part}`;
}

/** `carrel notes [query]`: list_notes. */
export async function notesCommand(line: CommandLine): Promise<void> {
  const query = line.words.join(' ');
  const args = given({ query: query === '' ? undefined : query, tags: listFlag(line, 'tag'), ...page(line) });
  const answer = await ask(line, 'research', (tools) => tools.call('list_notes', args));
  const notes = rowsOf(answer['notes']);
  const rows = notes.map((note) => [
    number(note['relevance']),
    text(note['title']),
    list(note['tags']),
    text(note['snippet']),
    date(note['created_at']),
    text(note['id']),
  ]);
  show(line, answer, noteColumns, rows, 'no notes');
  tellMore(notes.length, answer['total_count']);
}

const noteColumns: Column[] = [
  { title: 'RELEVANCE', align: 'right' },
  { title: 'TITLE', share: 2, lines: 2 },
  { title: 'TAGS', share: 1, lines: 2 },
  { title: 'PASSAGE', share: 3, lines: 3 },
  { title: 'CREATED' },
  // Whole: `carrel get` takes it.
  { title: 'ID' },
];

/** `carrel threads [thread]`: list_threads, or what is in one. */
export async function threadsCommand(line: CommandLine): Promise<void> {
  const [thread] = line.words;
  if (thread !== undefined) return showThread(line, thread);
  const answer = await ask(line, 'context', (tools) => tools.call('list_threads', page(line)));
  const threads = rowsOf(answer['threads']);
  const rows = threads.map((each) => [
    text(each['thread_id']),
    text(each['entry_count']),
    date(each['first_entry']),
    date(each['last_entry']),
  ]);
  show(line, answer, threadColumns, rows, 'no threads');
  tellMore(threads.length, answer['total_threads']);
}

const threadColumns: Column[] = [
  { title: 'THREAD', share: 1 },
  { title: 'ENTRIES', align: 'right' },
  { title: 'FIRST' },
  { title: 'LAST' },
];

async function showThread(line: CommandLine, thread: string): Promise<void> {
  const args = { thread_id: thread, ...page(line) };
  const answer = await ask(line, 'context', (tools) => tools.call('search_context', args));
  const rows = rowsOf(answer['results']).map((entry) => [
    text(entry['id']),
    date(entry['created_at']),
    text(entry['source']),
    list(entry['tags']),
    text(entry['text_content']),
  ]);
  show(line, answer, entryColumns, rows, 'no entries in this thread');
  if (answer['has_more'] === true) remark('there are more: --limit and --offset reach them');
}

const entryColumns: Column[] = [
  { title: 'ID', align: 'right' },
  { title: 'CREATED' },
  { title: 'SOURCE' },
  { title: 'TAGS', share: 1, lines: 2 },
  { title: 'TEXT', share: 4, lines: 3 },
];

function page(line: CommandLine): Record<string, unknown> {
  return given({ limit: numberFlag(line, 'limit'), offset: numberFlag(line, 'offset') });
}

export function tellMore(shown: number, total: unknown): void {
  if (typeof total === 'number' && total > shown) remark(`${shown} of ${total}; --limit and --offset reach the others`);
}
