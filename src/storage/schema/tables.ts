import { documentTables, webTables } from './document-tables.ts';
import { entryTables, noteTables } from './entry-tables.ts';
import { indexTables } from './index-tables.ts';
import { optional, type Table, t, unique } from './table.ts';

/** Keys are never reused, so that a new token is not mistaken for a revoked one. */
const tokenTables: Table[] = [
  {
    name: 'access_tokens',
    columns: {
      key: t.key,
      name: t.exactText,
      hash: unique(t.hash),
      rights: t.object,
      created_at: t.time,
      expires_at: optional(t.time),
      last_used_at: optional(t.time),
      revoked_at: optional(t.time),
    },
    indexes: { access_tokens_name: { columns: 'name', where: 'revoked_at IS NULL', isUnique: true } },
  },
];

/** See `readSetting`. */
const settingsTable: Table = { name: 'settings', columns: { name: t.exactText, value: t.text }, primaryKey: ['name'] };

/** The tables that both databases have, each after the tables it refers to. A backup contains their rows. */
export const tables: readonly Table[] = [
  ...noteTables,
  ...entryTables,
  ...documentTables,
  ...webTables,
  ...tokenTables,
  ...indexTables,
  settingsTable,
];

/** Initial settings of a new database. */
export const firstSettings = [
  'indexed_fields',
  '["status","agent_name","task_name","project","report_type","references:object","technologies:array"]',
] as const;
