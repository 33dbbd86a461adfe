import { setImmediate as nextTurn } from 'node:timers/promises';
import { textHash } from '../../../base/text-hash.ts';
import { makeSnippet } from '../../../words/snippet.ts';
import { nothing, plainQuery, type WordQuery } from '../../../words/word-query.ts';
import type { ListedNote, Note, NoteListRequest, NotePage } from '../../contracts/notes.ts';
import type { KeyFilter, Statements } from '../../dialect.ts';
import { numberOf, type Row, textOf, textsOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { bothForms } from '../both-forms.ts';
import { findWords, weighWords } from '../words/find-words.ts';
import { noteWords } from '../words/word-indexes.ts';

export async function getNote(on: Statements, id: string): Promise<Note | undefined> {
  const [row] = await on.query(`SELECT * FROM ${on.dialect.schema}notes WHERE id = ? AND deleted_at IS NULL`, [
    storable(id),
  ]);
  return row && noteOf(row);
}

/** About what a reranking model reads. */
const passageUnits = 1_100;

export async function listNotes(on: Statements, request: NoteListRequest): Promise<NotePage> {
  const tags = new Map(request.tags?.map((tag) => [tag.normalize('NFC'), bothForms([storable(tag)])]));
  const filter = tags.size === 0 ? undefined : on.dialect.notes.tagged([...tags.values()]);
  if (request.query === undefined) return newestNotes(on, filter, request);
  const query = plainQuery(request.query);
  const { found, total, scoreMax } = await findWords(on, noteWords, query, filter, request);
  const keys = found.map(({ key }) => key);
  const { weighed } = await weighWords(on, noteWords, { query, keys });
  const terms = new Map(weighed.map((each) => [each.key, each.terms]));
  const shareOf = (score: number) => Math.min(1, score / Math.max(scoreMax, Number.EPSILON));
  const sql = `SELECT * FROM ${on.dialect.schema}notes WHERE key IN (${on.dialect.integers})`;
  const rows = await on.query(sql, [{ list: keys }], 'last');
  const byKey = new Map(rows.map((row) => [numberOf(row, 'key'), row]));
  const notes: ListedNote[] = [];
  for (const { key, score } of found) {
    const row = byKey.get(key);
    if (row === undefined) continue;
    const covered = (terms.get(key) ?? []).reduce((sum, { highest }) => sum + highest, 0);
    const match = {
      key,
      share: shareOf(score),
      coverage: shareOf(covered),
      passage: makeSnippet(textOf(row, 'content'), query, passageUnits).text,
    };
    notes.push({ ...listed(row, query), match });
    // A long note takes tens of milliseconds, and with PostgreSQL this is the thread that serves.
    await nextTurn();
  }
  return { notes, total };
}

async function newestNotes(
  on: Statements,
  filter: KeyFilter | undefined,
  { limit, offset }: NoteListRequest,
): Promise<NotePage> {
  const values = filter?.values ?? [];
  const among = `${on.dialect.schema}notes WHERE deleted_at IS NULL${filter ? ` AND key IN (${filter.sql})` : ''}`;
  const rows = await on.query(`SELECT * FROM ${among} ORDER BY created_at DESC, id LIMIT ? OFFSET ?`, [
    ...values,
    limit,
    offset,
  ]);
  const [count = {}] = await on.query(`SELECT count(*) AS total FROM ${among}`, values);
  return { notes: rows.map((row) => listed(row, nothing)), total: numberOf(count, 'total') };
}

function listed(row: Row, query: WordQuery): ListedNote {
  const { id, title, tags, sourceUrls, createdAt, updatedAt, content } = noteOf(row);
  const contentHash = textHash(content);
  return { id, title, tags, sourceUrls, createdAt, updatedAt, contentHash, snippet: makeSnippet(content, query) };
}

export function noteOf(row: Row): Note {
  return {
    id: textOf(row, 'id'),
    title: textOf(row, 'title'),
    content: textOf(row, 'content'),
    tags: textsOf(row, 'tags'),
    sourceUrls: textsOf(row, 'source_urls'),
    createdAt: textOf(row, 'created_at'),
    updatedAt: textOf(row, 'updated_at'),
  };
}
