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
      'The SQLite file; a relative path starts from the current folder. Default: carrel.db in the data folder.',
  }),
  language: choice(['auto', ...languages], {
    default: 'auto',
    env: ['FTS_LANGUAGE'],
    description:
      'The language whose word forms full-text search matches. auto keeps the language of an existing database and uses english in a new one. After a change, the next start tokenises all stored texts again.',
  }),
  // Secret as a whole, because it usually contains a password.
  postgresUrl: secret({
    env: ['POSTGRESQL_CONNECTION_STRING', 'DATABASE_URL'],
    description:
      'postgres://user:password@host:port/database. Several hosts, as in host:port,host:port, are a primary and its standbys: the one that accepts writes is used.',
  }),
  postgresReadUrl: secret({
    env: ['DATABASE_READ_URL'],
    description:
      'A read replica of the PostgreSQL database, for searches. It answers if it is up to date, otherwise the primary does.',
  }),
});

export type StorageConfig = SliceValues<typeof storageSlice>;
