import type { PassageFilter } from '../contracts/passages.ts';
import type { PassageTable } from '../dialect.ts';
import { createIdSet } from '../id-set.ts';
import { type Condition, numberOf } from '../rows.ts';
import { storable } from '../storable.ts';

/** Labels are indexed where they are, and triggers list what has to be embedded. */
export const passageTable: PassageTable = {
  complete: async () => {},
  relabel: async () => {},
  filter(filter) {
    const condition = passageCondition(filter);
    return (
      condition && {
        values: condition.values,
        sql: `SELECT o.key FROM carrel.kb_passages o WHERE ${condition.sql}`,
        onWords: filter.parents === undefined ? labelCondition('w', filter.labels) : undefined,
      }
    );
  },
  async keys(on, { sql, values }) {
    const rows = await on.query(sql, values);
    return createIdSet(Float64Array.from(rows, (row) => numberOf(row, 'key'))).pages;
  },
};

/** On the passages `o`. Undefined where all may pass. */
export function passageCondition({ labels, parents }: PassageFilter): Condition | undefined {
  const labelled = labelCondition('o', labels);
  if (parents === undefined) return labelled;
  const own = { sql: 'o.parent = ANY (?::text[])', values: [{ list: parents.map(storable) }] };
  return labelled === undefined
    ? own
    : { sql: `${labelled.sql} AND ${own.sql}`, values: [...labelled.values, ...own.values] };
}

/** On the labels of a row that is called so. */
function labelCondition(row: string, labels: PassageFilter['labels'] = []): Condition | undefined {
  if (labels.length === 0) return undefined;
  return {
    sql: labels.map(() => `${row}.labels && ?::text[]`).join(' AND '),
    values: labels.map((group) => ({ list: group.map(storable) })),
  };
}
