import type { PassageTable } from '../dialect.ts';
import type { PassageFilter } from '../passages/passage.ts';
import type { Condition } from '../rows.ts';
import { storable } from '../storable.ts';
import { labelMark } from './words/tsquery.ts';

/** Labels are in the passage's row and among its words. */
export const passageTable: PassageTable = {
  async relabel(on, parent, labels) {
    await on.query(
      `UPDATE carrel.kb_passage_words w SET words = array_to_tsvector(?::text[]) ||
         ts_delete(w.words, ARRAY(SELECT l FROM unnest(tsvector_to_array(w.words)) l WHERE starts_with(l, '${labelMark}')))
       FROM carrel.kb_passages o WHERE o.key = w.key AND o.parent = ?`,
      [{ list: labels.map((label) => `${labelMark}${label}`) }, parent],
    );
  },
};

/** Condition on the labels of the row with this name: at least one of each group. Undefined if all pass. */
export function labelCondition(row: string, labels: PassageFilter['labels'] = []): Condition | undefined {
  if (labels.length === 0) return undefined;
  return {
    sql: labels.map(() => `${row}.labels && ?::text[]`).join(' AND '),
    values: labels.map((group) => ({ list: group.map(storable) })),
  };
}
