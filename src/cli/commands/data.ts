import { addFlags, jsonFlag, toggle, webPageFlags } from '../flags.ts';
import { type GroupedCommand, many } from './command.ts';

export const dataCommands: readonly GroupedCommand[] = [
  {
    name: 'add',
    summary: 'adds files, folders and web pages to the knowledge base',
    args: '<paths or urls...>',
    argsMin: 1,
    argsMax: many,
    missing: 'the files, folders or URLs to add',
    details:
      'Each URL becomes a web source. To list, refresh or remove web sources, run carrel sources. A single page is fetched immediately. Sites, sitemaps and feeds are fetched by a running server, or by this command if you pass --wait.',
    completes: 'files',
    examples: [
      'carrel add ~/Documents --collection private --exclude "*.tmp"',
      'carrel add notes --watch',
      'carrel add https://docs.example.org/guide/ --site --version 2.4 --refresh weekly --wait',
    ],
    flags: [...addFlags, ...webPageFlags, jsonFlag],
  },
  {
    name: 'sources',
    summary: 'lists, refreshes, pauses, resumes and removes web sources',
    args: '[list|refresh|pause|resume|remove] [id...]',
    argsMax: many,
    completes: ['list', 'refresh', 'pause', 'resume', 'remove'],
    details: 'A paused source is not refreshed until you resume it. Deleted documents can be restored for 30 days.',
    examples: ['carrel sources', 'carrel sources refresh 3 --wait', 'carrel sources remove 3 --with-documents'],
    flags: [
      toggle('all', 'with refresh: refresh every source'),
      toggle('wait', 'with refresh: fetch in this process and show progress until done'),
      toggle('with-documents', 'with remove: also delete the documents of the source'),
      toggle('keep-documents', 'with remove: keep the documents of the source'),
      jsonFlag,
    ],
  },
  {
    name: 'backup',
    summary: 'writes all data to one file while servers keep running',
    args: '<file>',
    argsMin: 1,
    argsMax: 1,
    missing: 'the backup file',
    completes: 'files',
    flags: [toggle('force', 'overwrite the file if it exists'), jsonFlag],
  },
  {
    name: 'restore',
    summary: 'replaces all data with the contents of a backup',
    details: 'If the database is not empty, the command asks for confirmation. Without a terminal it requires --force.',
    args: '<file>',
    argsMin: 1,
    argsMax: 1,
    missing: 'the backup file',
    completes: 'files',
    flags: [toggle('force', 'replace existing data without asking'), jsonFlag],
  },
  {
    name: 'export',
    summary: 'writes the memory entries as JSONL, to a file or standard output',
    args: '[file]',
    argsMax: 1,
    completes: 'files',
    flags: [],
  },
  {
    name: 'import',
    summary:
      'imports memory entries from a Carrel export, an mcp-context-server database, memory.jsonl or conversations.json',
    args: '<file>',
    argsMin: 1,
    argsMax: 1,
    missing: 'the file to read',
    details:
      'Existing entries are not changed. Invalid entries are skipped and listed in <file>.skipped.jsonl, and the exit code is 65. --json also lists entries that got new ids.',
    completes: 'files',
    flags: [jsonFlag],
  },
];
