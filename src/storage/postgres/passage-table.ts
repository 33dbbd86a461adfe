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
    return condition && { ...condition, sql: `SELECT o.key FROM carrel.kb_passages o WHERE ${condition.sql}` };
  },
  async keys(on, { sql, values }) {
    const rows = await on.query(sql, values);
    return createIdSet(Float64Array.from(rows, (row) => numberOf(row, 'key'))).pages;
  },
};

/** On the passages `o`. Undefined where all may pass. */
export function passageCondition({ labels = [], parents }: PassageFilter): Condition | undefined {
  const conditions: Condition[] = labels.map((group) => ({
    sql: 'o.labels && ?::text[]',
    values: [{ list: group.map(storable) }],
  }));
  if (parents !== undefined) {
    conditions.push({ sql: 'o.parent = ANY (?::text[])', values: [{ list: parents.map(storable) }] });
  }
  if (conditions.length === 0) return undefined;
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}
