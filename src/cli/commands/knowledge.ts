import {
  collectionFilter,
  jsonFlag,
  limitFlag,
  listFlag,
  offsetFlag,
  openFlag,
  tagFilter,
  tagFlag,
  valueFlag,
  verboseFlag,
} from '../flags.ts';
import { type GroupedCommand, many } from './command.ts';

const resultFlags = [jsonFlag, limitFlag];
const query = { args: '<query...>', argsMin: 1, argsMax: many, missing: 'a query' };

export const knowledgeCommands: readonly GroupedCommand[] = [
  {
    name: 'search',
    summary: 'searches the knowledge base',
    ...query,
    examples: ['carrel search harbour dues --collection contracts', 'carrel search "parental leave" --open'],
    flags: [
      collectionFilter,
      tagFilter,
      { ...openFlag, summary: "open the first result's file in the default program" },
      verboseFlag,
      ...resultFlags,
    ],
  },
  {
    name: 'find',
    summary: 'searches memory, documents, notes and Fess at once',
    ...query,
    details: 'The web is searched only if you add --source web.',
    examples: ['carrel find who signed the lease', 'carrel find sqlite wal --source notes --source web'],
    flags: [
      listFlag('source', 'name', 'only this source: context, notes, kb, web or fess_<domain>; can be repeated'),
      verboseFlag,
      ...resultFlags,
    ],
  },
  {
    name: 'get',
    summary: 'prints a document, note or memory by its URI',
    args: '<uri>',
    argsMin: 1,
    argsMax: 1,
    missing: 'the URI from a search or a list',
    details:
      'A plain number is the id of a document in the knowledge base. If the output is redirected, the text is printed unchanged.',
    examples: ['carrel get carrel://kb/doc/12', 'carrel get 12 > report.txt', 'carrel get 12 --open'],
    flags: [jsonFlag, openFlag, verboseFlag],
  },
  {
    name: 'rm',
    summary: 'deletes documents, notes and memories; they can be restored for 30 days',
    args: '<uri...>',
    argsMin: 1,
    argsMax: many,
    missing: 'the URIs from a search or a list',
    details:
      'A plain number is the id of a document in the knowledge base. The command stops at the first item that cannot be deleted.',
    examples: ['carrel rm carrel://kb/doc/12 carrel://context/7'],
    flags: [jsonFlag],
  },
  {
    name: 'status',
    summary: 'shows what is stored and what is in progress',
    flags: [jsonFlag],
  },
  {
    name: 'list',
    summary: 'lists the documents in the knowledge base',
    args: '[query...]',
    argsMax: many,
    details: 'The query is matched against titles and paths.',
    flags: [
      collectionFilter,
      tagFilter,
      valueFlag('type', 'type', 'only this type, such as pdf, markdown or note'),
      ...resultFlags,
      offsetFlag,
    ],
  },
  {
    name: 'jobs',
    summary: 'lists ingestion jobs and their outcome',
    args: '[id]',
    argsMax: 1,
    flags: [
      valueFlag('status', 'status', 'only jobs with this status', {
        choices: ['queued', 'processing', 'done', 'failed', 'cancelled', 'skipped'],
      }),
      ...resultFlags,
      offsetFlag,
    ],
  },
  {
    name: 'notes',
    summary: 'lists or searches notes',
    args: '[query...]',
    argsMax: many,
    flags: [tagFilter, ...resultFlags, offsetFlag],
  },
  {
    name: 'threads',
    summary: 'lists memory threads, or the entries of one thread',
    args: '[thread]',
    argsMax: 1,
    flags: [...resultFlags, offsetFlag],
  },
  {
    name: 'remember',
    summary: 'stores a text in memory',
    args: '<text...>',
    argsMin: 1,
    argsMax: many,
    missing: 'the text to store, or - to read it from standard input',
    examples: ['carrel remember the gate code changes in May', 'git log -5 | carrel remember - --thread carrel'],
    flags: [
      valueFlag('thread', 'name', 'thread to store the text in (default memory)'),
      tagFlag,
      verboseFlag,
      jsonFlag,
    ],
  },
];
