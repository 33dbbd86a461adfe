import type { DocumentTerms } from '../../words/ranking/bm25.ts';
import type { TermText } from '../../words/term-text.ts';
import type { WordQuery } from '../../words/word-query.ts';
import type { FoundRequest, KeyFilter, ListRequest, Statements, WordIndex, WordListing } from '../dialect.ts';
import { type Condition, numberOf, optionalTextOf, type Row } from '../rows.ts';
import { countWords, listedMax } from './count-words.ts';
import { bigintArray, bigintsOf } from './real-array.ts';
import { tsquery } from './render-words.ts';

/** `WordTable.matches`; a filter that is given narrows it. */
export type Finding = (index: WordIndex, query: WordQuery, filter: KeyFilter | undefined) => Condition;

/** Lists what is found as arrays, of which the server sends and takes the bytes. */
export function createWordListing(
  finding: Finding,
  hasMore: (index: WordIndex) => boolean,
  shareOf: WordListing['shareOf'],
): WordListing {
  const notes = createNotes();
  return {
    max: listedMax,
    async matching(on, index, { query, filter, ...asked }) {
      const isTested = filter?.isWide === true;
      const { sql, values } = finding(index, query, isTested ? undefined : filter);
      const found = { sql: `SELECT w.key ${sql}`, values };
      const passing = isTested ? passingOf(filter, arrayOf(found)) : found;
      const listed = arrayOf({ sql: `${passing.sql} LIMIT ${listedMax + 1}`, values: passing.values });
      const row = await (asked.first === 0 ? listKeys(on, listed) : listWithTerms(on, index.name, listed, asked));
      const keys = bigintsOf(row['keys']);
      // Before those that come several times are left out: there may be more behind them.
      return keys.length > listedMax ? undefined : { keys: eachOnce(keys), terms: termsOf(row) };
    },
    async holding(on, index, queries, filter) {
      // The words of one document may be in several rows, of which none has all.
      if (hasMore(index)) return undefined;
      if (queries.length === 0) return [];
      const found = await countWords(on, index.name, queries, { documents: async () => 0, keys: true, filter });
      return found.map(({ keys }) => keys);
    },
    async finds(on, index, query, asked) {
      const { documents, filter } = asked;
      const known = notes(index.name, asked.state);
      const note = noteOf(query, asked);
      if (known.has(note)) return true;
      const { sql, values } = finding(index, query, filter);
      const [row = {}] = await on.query(`SELECT count(*) AS found FROM (SELECT 1 ${sql} LIMIT ?) AS matches`, [
        ...values,
        documents,
      ]);
      const isFound = numberOf(row, 'found') === documents;
      if (isFound) known.add(note);
      return isFound;
    },
    isKnownToFind: ({ name }, query, asked) => notes(name, asked.state).has(noteOf(query, asked)),
    shareOf,
    async passing(on, filter, keys) {
      const among = { sql: '(SELECT ?::bigint[])::bigint[]', values: [bigintArray(keys)] };
      const row = await listKeys(on, arrayOf(passingOf(filter, among)));
      return eachOnce(bigintsOf(row['keys']));
    },
  };
}

function noteOf(query: WordQuery, { documents, filter }: FoundRequest): string {
  return `${documents} ${tsquery(query)} ${filter ? JSON.stringify(filter.onWords) : ''}`;
}

/** Of common words, and lists of several. */
const notesMax = 1000;

/** What was found out about an index in a state; of each index, those of the last state are kept. */
function createNotes(): (index: string, state: string | undefined) => Set<string> {
  const kept = new Map<string, { readonly state: string; readonly notes: Set<string> }>();
  return (index, state) => {
    const known = kept.get(index);
    if (known !== undefined && known.state === state && known.notes.size < notesMax) return known.notes;
    const notes = new Set<string>();
    if (state !== undefined) kept.set(index, { state, notes });
    return notes;
  };
}

/** A SELECT of those that pass, of the keys in an array: an index takes a whole array and goes through it once. */
function passingOf({ sql, values, isWide, onKeys, rows }: KeyFilter, keys: Condition): Condition {
  if (isWide && rows !== undefined) {
    return rows.reduce<Condition>((select, row, place) => {
      const among = place === 0 ? keys : arrayOf(select);
      return {
        sql: `SELECT ${row.key} FROM ${row.sql} AND ${row.key} = ANY (${among.sql})`,
        values: [...row.values, ...among.values],
      };
    }, keys);
  }
  if (isWide && onKeys !== undefined) {
    return {
      sql: `SELECT o.key FROM unnest(${keys.sql}) AS o (key) WHERE ${onKeys.sql}`,
      values: [...keys.values, ...onKeys.values],
    };
  }
  return { sql: `SELECT f.key FROM (${sql}) f WHERE f.key = ANY (${keys.sql})`, values: [...values, ...keys.values] };
}

function arrayOf({ sql, values }: Condition): Condition {
  return { sql: `ARRAY(${sql})`, values };
}

async function listKeys(on: Statements, { sql, values }: Condition): Promise<Row> {
  const [row = {}] = await on.query(`SELECT array_send(${sql}) AS keys`, values);
  return row;
}

/** With the terms of the lowest keys, as lines of one text: hundreds of rows cost both sides more. */
async function listWithTerms(
  on: Statements,
  name: string,
  { sql, values }: Condition,
  { first, place }: Pick<ListRequest, 'first' | 'place'>,
): Promise<Row> {
  const columns = ['key', ...fields.flatMap((field) => [field, `${field}_extra`, `${field}_length`])];
  const lines = `concat_ws(E'\\n', ${columns.map((column) => `t.${column}`).join(', ')})`;
  const [row = {}] = await on.query(
    `SELECT array_send(f.keys) AS keys, (
       SELECT string_agg(${lines}, E'\\n') FROM carrel.${name}_terms t
       WHERE t.key = ANY (ARRAY(SELECT DISTINCT k.key FROM unnest(f.keys) AS k (key) ORDER BY k.key LIMIT ${first}))) AS terms
     FROM (SELECT ${sql} AS keys OFFSET 0) f`,
    values,
    place,
  );
  return row;
}

const fields = ['title', 'heading', 'body'] as const;
const linesPerDocument = 1 + 3 * fields.length;

/** Ascending. */
function eachOnce(keys: Float64Array): Float64Array {
  return keys.sort().filter((key, place) => key !== keys[place - 1]);
}

/** Undefined where none were asked for. No term has a line break in it. */
function termsOf(row: Row): ReadonlyMap<number, DocumentTerms> | undefined {
  if (!('terms' in row)) return undefined;
  const terms = new Map<number, DocumentTerms>();
  const lines = optionalTextOf(row, 'terms')?.split('\n') ?? [];
  for (let at = 0; at < lines.length; at += linesPerDocument) {
    const field = (place: number) => fieldOf(lines, at + 3 * place + 1);
    terms.set(Number(lines[at]), { title: field(0), heading: field(1), body: field(2) });
  }
  return terms;
}

function fieldOf(lines: readonly string[], at: number): TermText {
  const [main = '', extra = ''] = [lines[at], lines[at + 1]];
  return main === '' && extra === '' ? emptyField : { main, extra, length: Number(lines[at + 2]) };
}

/** One for all: most documents have a body only. */
const emptyField: TermText = { main: '', extra: '', length: 0 };
