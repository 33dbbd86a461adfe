import { adding, forceFlag, jsonFlag } from '../flags.ts';
import { type GroupedCommand, many } from './command.ts';

export const dataCommands: readonly GroupedCommand[] = [
  {
    name: 'add',
    summary: "adds files and folders to the knowledge base; --watch follows a folder's changes",
    words: '<paths...>',
    wordsMin: 1,
    wordsMax: many,
    needs: 'the files or folders to add',
    completes: 'files',
    examples: ['carrel add ~/Documents --collection private --exclude "*.tmp"', 'carrel add notes --watch'],
    flags: [...adding, jsonFlag],
  },
  {
    name: 'backup',
    summary: 'writes all data to one file, while servers keep running',
    words: '<file>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the backup file',
    completes: 'files',
    flags: [forceFlag, jsonFlag],
  },
  {
    name: 'restore',
    summary: 'replaces all data with a backup; needs --force if there is any',
    words: '<file>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the backup file',
    completes: 'files',
    flags: [forceFlag, jsonFlag],
  },
  {
    name: 'export',
    summary: 'writes the context entries as JSONL',
    words: '[file]',
    wordsMax: 1,
    completes: 'files',
    flags: [],
  },
  {
    name: 'import',
    summary: 'adds entries: an export, a mcp-context-server database, memory.jsonl, conversations.json',
    words: '<file>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the file to read',
    completes: 'files',
    flags: [],
  },
];
