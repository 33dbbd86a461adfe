import type { CommandLine } from '../command-line.ts';
import type { Column } from '../terminal/table.ts';
import { ask, given, listFlag, numberFlag } from './ask.ts';
import { number, type Row, remark, rowsOf, show, tellRemarks, text } from './show.ts';

/** `carrel find <query>`: find, in every source. */
export async function findCommand(line: CommandLine): Promise<void> {
  const args = given({
    query: line.words.join(' '),
    sources: listFlag(line, 'source'),
    limit: numberFlag(line, 'limit'),
  });
  const answer = await ask(line, 'find', (tools) => tools.call('find', args));
  const hits = rowsOf(answer['hits']);
  const rows = hits.map((hit) => [
    number(hit['relevance'] ?? hit['score']),
    text(hit['source']),
    text(hit['title']),
    text(hit['snippet']),
    text(hit['uri']),
  ]);
  show(line, answer, columnsFor(hits), rows, 'nothing found');
  tellRemarks(answer);
  for (const { source, status, message } of rowsOf(answer['sources'])) {
    // Empty must never mean broken.
    if (status === 'failed' || status === 'degraded') remark(`${text(source)} ${text(status)}: ${text(message)}`);
  }
}

function columnsFor(hits: readonly Row[]): Column[] {
  return [
    { title: hits.some((hit) => 'relevance' in hit) ? 'RELEVANCE' : 'SCORE', align: 'right' },
    { title: 'SOURCE' },
    { title: 'TITLE', share: 2, lines: 2 },
    { title: 'PASSAGE', share: 4, lines: 3 },
    { title: 'URI', share: 3, lines: 2 },
  ];
}
