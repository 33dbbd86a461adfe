import { adding, forceFlag, jsonFlag } from '../flags.ts';
import { type GroupedCommand, many } from './command.ts';

export const dataCommands: readonly GroupedCommand[] = [
  {
    name: 'add',
    summary: 'adds files and folders to the knowledge base; --watch keeps folders in step',
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
    summary: 'writes everything that is kept into one file, while servers go on',
    words: '<file>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the file of the backup',
    completes: 'files',
    flags: [forceFlag, jsonFlag],
  },
  {
    name: 'restore',
    summary: 'puts a backup in the place of what is kept; --force where that is not empty',
    words: '<file>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the file of the backup',
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
