import { makeSnippet } from '../../words/snippet.ts';
import { plainQuery } from '../../words/word-query.ts';
import type { CommandLine } from '../command-line.ts';
import type { Column } from '../terminal/table.ts';
import { ask, given, listFlag, numberFlag, textFlag } from './ask.ts';
import { openFile } from './open-file.ts';
import { number, path, type Row, rowsOf, show, tellRemarks, text } from './show.ts';

/** `carrel search <query>`: kb_search. */
export async function searchCommand(line: CommandLine): Promise<void> {
  const query = line.words.join(' ');
  const args = given({
    query,
    top: numberFlag(line, 'limit'),
    collection: textFlag(line, 'collection'),
    tags: listFlag(line, 'tag'),
  });
  const answer = await ask(line, 'kb', (tools) => tools.call('kb_search', args));
  const hits = rowsOf(answer['results']);
  const words = plainQuery(query);
  const rows = hits.map((hit) => [
    number(hit['relevance'] ?? hit['score']),
    path(hit['source_path']) || text(hit['title']),
    place(hit['chunk_metadata']),
    makeSnippet(text(hit['text']), words, snippetUnits).text,
    text(hit['document_id']),
  ]);
  show(line, answer, columnsFor(hits), rows, 'nothing found');
  tellRemarks(answer);
  if (line.flags['open'] === true) openFile(hits[0]?.['source_path']);
}

const snippetUnits = 240;

function columnsFor(hits: readonly Row[]): Column[] {
  return [
    { title: hits.some((hit) => 'relevance' in hit) ? 'RELEVANCE' : 'SCORE', align: 'right' },
    { title: 'PATH', share: 2, kept: 'end' },
    { title: 'PAGE' },
    { title: 'PASSAGE', share: 5, lines: 3 },
    { title: 'ID', align: 'right' },
  ];
}

/** A page, or else lines. */
export function place(metadata: unknown): string {
  if (typeof metadata !== 'object' || metadata === null) return '';
  const { page, line_start: first, line_end: last } = metadata as Row;
  if (typeof page === 'number') return String(page);
  if (typeof first !== 'number') return '';
  return typeof last === 'number' && last !== first ? `l.${first}-${last}` : `l.${first}`;
}
