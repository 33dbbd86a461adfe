import type { CommandLine } from '../command-line.ts';
import type { Column } from '../terminal/table.ts';
import { ask, given, listFlag, numberFlag, textFlag } from './ask.ts';
import { tellMore } from './lists.ts';
import { date, list, path, rowsOf, show, text } from './show.ts';

/** `carrel list [query]`: kb_list. */
export async function listCommand(line: CommandLine): Promise<void> {
  const query = line.words.join(' ');
  const args = given({
    collection: textFlag(line, 'collection'),
    tag: listFlag(line, 'tag')?.join(','),
    type: textFlag(line, 'type'),
    query: query === '' ? undefined : query,
    limit: numberFlag(line, 'limit'),
    offset: numberFlag(line, 'offset'),
  });
  const answer = await ask(line, 'kb', (tools) => tools.call('kb_list', args));
  const documents = rowsOf(answer['documents']);
  const rows = documents.map((each) => [
    text(each['document_id']),
    text(each['title']),
    text(each['type']),
    text(each['collection']),
    list(each['tags']),
    path(each['source_path']),
    date(each['created_at']),
  ]);
  show(line, answer, columns, rows, 'no documents');
  tellMore(documents.length, answer['total']);
}

const columns: Column[] = [
  { title: 'ID', align: 'right' },
  { title: 'TITLE', share: 3 },
  { title: 'TYPE' },
  { title: 'COLLECTION', share: 1 },
  { title: 'TAGS', share: 1 },
  { title: 'PATH', share: 3, kept: 'end' },
  { title: 'ADDED' },
];
