import { isObject } from '../../base/json.ts';
import { dataDirOf } from '../../config/data-dir.ts';
import { announcedOwners, ownerFolder } from '../../sharing/owner-files.ts';
import type { CommandLine } from '../command-line.ts';
import { date, printJson } from './show.ts';
import { type OpenTools, withTools } from './with-tools.ts';

/** `carrel status`: shows what is stored, what is in progress, and which processes are running. */
export async function statusCommand(line: CommandLine, open: OpenTools): Promise<void> {
  const dataDir = dataDirOf(line.flags['data-dir'], process.env);
  const status = await withTools(open, line, 'kb,context,research', async (tools) => {
    const [kb, memory, notes] = await Promise.all([
      tools.call('kb_status', {}),
      tools.call('get_statistics', {}),
      tools.call('list_notes', { limit: 1 }),
    ]);
    const queue = isObject(kb['queue']) ? kb['queue'] : {};
    return {
      data_dir: dataDir,
      documents: count(kb['documents']),
      passages: count(kb['chunks']),
      queued: count(queue['queued']) + count(queue['processing']),
      unembedded: count(kb['unembedded']),
      memories: count(memory['total_entries']),
      threads: count(memory['total_threads']),
      notes: count(notes['total_count']),
      processes: announcedOwners(ownerFolder(dataDir, process.env)).map(({ announcement }) => ({
        pid: announcement.pid,
        role: announcement.role,
        started_at: announcement.startedAt,
      })),
    };
  });
  if (line.flags['json'] === true || !process.stdout.isTTY) return printJson(status);
  const pending = [
    status.queued > 0 ? `${status.queued} queued or processing` : '',
    status.unembedded > 0 ? `${status.unembedded} passages not embedded yet` : '',
  ].filter((part) => part !== '');
  const rows: [string, string][] = [
    ['Data folder', status.data_dir],
    ['Documents', [`${status.documents}, ${status.passages} passages`, ...pending].join(', ')],
    ['Memories', `${status.memories} in ${status.threads} threads`],
    ['Notes', String(status.notes)],
    ...status.processes.map(({ pid, role, started_at: at }): [string, string] => [
      'Running',
      `carrel ${role}, process ${pid}, since ${date(at)}`,
    ]),
  ];
  for (const [name, value] of rows) process.stdout.write(`${name.padEnd(16)}${value}\n`);
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
