import { choice, defineSlice, optionalText, type SliceValues, secret } from '../config/field.ts';
import { languages } from '../words/language.ts';

export const storageSlice = defineSlice('storage', 'Storage', {
  backend: choice(['sqlite', 'postgresql'], {
    default: 'sqlite',
    env: ['STORAGE_BACKEND'],
    description:
      'Where all data is stored: in a SQLite file, or in a PostgreSQL database that several machines can share.',
  }),
  path: optionalText({
    env: ['DB_PATH'],
    isPath: true,
    description:
      'The SQLite file. A relative path starts at the current folder. The default is carrel.db in the data folder.',
  }),
  language: choice(['auto', ...languages], {
    default: 'auto',
    env: ['FTS_LANGUAGE'],
    description:
      'The language of the texts, so that keyword search also finds other forms of a word. auto keeps the language of an existing database and uses english in a new one. After a change, the next start reindexes all stored texts.',
  }),
  // Secret as a whole, because it usually contains a password.
  postgresUrl: secret({
    env: ['POSTGRESQL_CONNECTION_STRING', 'DATABASE_URL'],
    description:
      'The PostgreSQL database, as postgres://user:password@host:port/database. With several hosts (host:port,host:port), Carrel uses the one that accepts writes.',
  }),
  postgresReadUrl: secret({
    env: ['DATABASE_READ_URL'],
    description:
      'A read replica of the PostgreSQL database. It answers searches while it is up to date; otherwise the primary answers them.',
  }),
});

export type StorageConfig = SliceValues<typeof storageSlice>;
