import { isObject } from '../../base/json.ts';
import type { ShownSource, WebSources } from '../../crawl/web-sources.ts';
import type { CommandLine } from '../command-line.ts';
import { printableLine } from '../terminal/printable.ts';
import { confirm } from '../terminal/prompt.ts';
import { date, printJson, type ShownColumn, show } from '../tool-commands/show.ts';
import { quote, usageError } from '../usage-error.ts';
import { followRuns } from './follow-runs.ts';
import { withSources } from './open-sources.ts';

/** `carrel sources [list]`, `refresh`, `pause`, `resume` and `remove`. */
export async function sourcesCommand(line: CommandLine): Promise<void> {
  const [action = 'list', ...ids] = line.args;
  const run = actions[action];
  if (run === undefined) {
    throw usageError(`Unknown action ${JSON.stringify(action)}. Use list, refresh, pause, resume or remove.`);
  }
  await run(line, ids.map(readId));
}

type Action = (line: CommandLine, ids: readonly number[]) => Promise<void>;

const actions: Readonly<Record<string, Action>> = Object.assign(Object.create(null), {
  async list(line, ids) {
    await withSources(line, false, async ({ sources }) => {
      const found = await sources.list(ids.length === 0 ? {} : { ids });
      show(line, { sources: found, total: found.length }, columns, found, 'no web sources; carrel add <url> adds one');
    });
  },
  async refresh(line, ids) {
    const waits = line.flags['wait'] === true;
    const isAll = line.flags['all'] === true;
    if ((ids.length === 0) !== isAll) throw usageError('carrel sources refresh needs source ids or --all.');
    await withSources(line, waits, async ({ sources, engine }) => {
      const found = await findSources(sources, isAll ? undefined : ids);
      const runs = [];
      for (const { source_id: id, url } of found) runs.push({ url, job: await sources.refresh(id) });
      if (waits) return followRuns(line, engine, runs);
      printJson({ jobs: runs.map(({ url, job }) => ({ url, job_id: job })) });
    });
  },
  pause: (line, ids) => changeEach(line, ids, 'paused', (sources, id) => sources.pause(id)),
  resume: (line, ids) => changeEach(line, ids, 'resumed', (sources, id) => sources.resume(id)),
  async remove(line, ids) {
    if (ids.length === 0) throw usageError('carrel sources remove needs a source id.');
    await withSources(line, false, async ({ sources }) => {
      for (const source of await findSources(sources, ids)) {
        const documents = await shouldDeleteDocuments(line, source);
        const { url, deleted, kept } = await sources.remove(source.source_id, { documents });
        print(`removed ${url}; ${documents ? `${deleted} documents moved to the trash` : `${kept} documents kept`}`);
      }
    });
  },
} satisfies Record<string, Action>);

async function changeEach(
  line: CommandLine,
  ids: readonly number[],
  result: string,
  change: (sources: WebSources, id: number) => Promise<void>,
): Promise<void> {
  if (ids.length === 0) throw usageError(`carrel sources ${line.args[0]} needs a source id.`);
  await withSources(line, false, async ({ sources }) => {
    for (const { source_id: id, url } of await findSources(sources, ids)) {
      await change(sources, id);
      print(`${result} ${url}`);
    }
  });
}

/** Returns the sources with these ids, or all. Rejects unknown ids before anything is changed. */
async function findSources(sources: WebSources, ids: readonly number[] | undefined): Promise<ShownSource[]> {
  const found = await sources.list(ids === undefined ? {} : { ids });
  const missing = ids?.find((id) => !found.some(({ source_id }) => source_id === id));
  if (missing !== undefined) throw usageError(`There is no source ${missing}. Run carrel sources to list them.`);
  return found;
}

async function shouldDeleteDocuments({ flags }: CommandLine, { url, documents }: ShownSource): Promise<boolean> {
  if (flags['with-documents'] === true) return true;
  if (flags['keep-documents'] === true || documents === 0) return false;
  const isConfirmed = await confirm(`Also delete the ${documents} documents of ${printableLine(url)}?`);
  if (isConfirmed !== undefined) return isConfirmed;
  throw usageError('Choose what happens to its documents: --with-documents deletes them, --keep-documents keeps them.');
}

const columns: readonly ShownColumn<ShownSource>[] = [
  { title: 'ID', align: 'right', cell: ({ source_id: id }) => String(id) },
  { title: 'ADDRESS', weight: 4, lines: 2, cell: ({ url }) => url },
  { title: 'MODE', cell: ({ mode }) => mode },
  { title: 'COLLECTION', weight: 1, cell: ({ collection }) => collection ?? '' },
  { title: 'STATUS', cell: ({ status }) => status },
  { title: 'DOCUMENTS', align: 'right', cell: ({ documents }) => String(documents) },
  { title: 'LAST RUN', cell: (source) => (isObject(source.last_run) ? date(source.last_run['ended_at']) : '') },
  { title: 'REFRESH', cell: ({ refresh }) => refresh },
  { title: 'NEXT', cell: (source) => date(source.next_refresh) },
];

function readId(word: string): number {
  if (/^[1-9]\d{0,14}$/.test(word)) return Number(word);
  throw usageError(`${quote(word)} is not a source id. Run carrel sources to list them.`);
}

function print(text: string): void {
  process.stderr.write(`carrel: ${printableLine(text)}\n`);
}
