import { createHash } from 'node:crypto';
import type { TextToEmbed, VectorCorpus, WaitingRequest } from '../../contracts/vectors.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, optionalTextOf, type Row, textOf, textsOf } from '../../rows.ts';
import { ofEntryBefore } from '../entries/entry-before.ts';
import { findModel, isLive, type ModelRequest, ownersOf } from './models.ts';

export async function waitingTexts(
  on: Statements,
  { corpus, model, limit, owners, claimant }: WaitingRequest & ModelRequest,
): Promise<TextToEmbed[]> {
  const { schema, integers, vectors } = on.dialect;
  const known = await findModel(on, { corpus, model });
  if (known === undefined) return [];
  vectors.ensureIndex(corpus, known);
  const among = owners === undefined ? '' : `AND u.owner IN (${integers})`;
  const own = claimant === undefined ? '' : 'AND u.claimed_by = ?';
  const rows = await on.query(
    `SELECT ${textColumns[corpus](schema)} FROM ${schema}${ownersOf[corpus]} o WHERE o.key IN (
       SELECT u.owner FROM ${schema}${corpus}_unembedded u WHERE u.model = ? ${among} ${own}
       ORDER BY u.owner DESC LIMIT ?)
     ORDER BY o.key`,
    [
      known.key,
      ...(owners === undefined ? [] : [{ list: owners }]),
      ...(claimant === undefined ? [] : [claimant]),
      limit,
    ],
  );
  return rows.map(textFrom[corpus]);
}

export async function unembeddedOwners(on: Statements, { corpus, model }: ModelRequest): Promise<number[]> {
  const { schema } = on.dialect;
  const rows = await on.query(
    `SELECT u.owner FROM ${schema}${corpus}_unembedded u JOIN ${schema}${corpus}_models m ON m.key = u.model
     WHERE m.name = ? ORDER BY u.owner`,
    [model],
  );
  return rows.map((row) => numberOf(row, 'owner'));
}

/** Of the texts as they are now. Locked in the order of their keys, as everybody does, until the end. */
export async function currentHashes(
  on: Statements,
  corpus: VectorCorpus,
  owners: readonly number[],
): Promise<Map<number, string>> {
  const { schema, integers, forUpdate } = on.dialect;
  const columns = corpus === 'context' ? 'o.key, o.text_hash' : textColumns.kb();
  const rows = await on.query(
    `SELECT ${columns} FROM ${schema}${ownersOf[corpus]} o WHERE o.key IN (${integers}) AND ${isLive[corpus]}
     ORDER BY o.key ${forUpdate}`,
    [{ list: owners }],
  );
  const hashOf = (row: Row) => (corpus === 'context' ? textOf(row, 'text_hash') : passageText(row).textHash);
  return new Map(rows.map((row) => [numberOf(row, 'key'), hashOf(row)]));
}

const textColumns = {
  context: (schema: string) => `o.key, o.text_content, o.text_hash, ${ofEntryBefore('text_content', schema)} AS before`,
  kb: () => 'o.key, o.title, o.headings, o.body',
};

const textFrom = { context: entryText, kb: passageText };

function entryText(row: Row): TextToEmbed {
  const before = optionalTextOf(row, 'before');
  return {
    owner: numberOf(row, 'key'),
    text: textOf(row, 'text_content'),
    textHash: textOf(row, 'text_hash'),
    ...(before === undefined ? {} : { before }),
  };
}

function passageText(row: Row): TextToEmbed {
  const text = textOf(row, 'body');
  const titlePath = titlePathOf(textOf(row, 'title'), textsOf(row, 'headings'));
  return { owner: numberOf(row, 'key'), text, textHash: passageHash(titlePath, text), titlePath };
}

/** Of a passage as it is embedded: a change of its title or headings changes its vectors too. */
function passageHash(titlePath: readonly string[], body: string): string {
  return createHash('sha256')
    .update(JSON.stringify([...titlePath, body]))
    .digest('hex');
}

/** Title and headings, outermost first; a title that is also the first heading appears once. */
function titlePathOf(title: string, headings: readonly string[]): string[] {
  const named = title === '' || headings[0] === title ? headings : [title, ...headings];
  return named.filter((part) => part !== '');
}
