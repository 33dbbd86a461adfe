import { choice, defineSlice, optionalText, type SliceValues, secret } from '../config/field.ts';
import { languages } from '../words/language.ts';

export const storageSlice = defineSlice('storage', 'Storage', {
  backend: choice(['sqlite', 'postgresql'], {
    default: 'sqlite',
    env: ['STORAGE_BACKEND'],
    description: 'Where everything is kept: in a file, or in a PostgreSQL database that several machines may serve.',
  }),
  path: optionalText({
    env: ['DB_PATH'],
    description:
      'The SQLite file; a relative path starts from the current folder. Unless given, carrel.db in the data folder.',
  }),
  language: choice(['auto', ...languages], {
    default: 'auto',
    env: ['FTS_LANGUAGE'],
    description:
      'The language whose word forms full-text search brings together. auto is the one that the database has, english in a new one. Another one than it has makes the next start cut all stored texts again.',
  }),
  // Secret as a whole, because it usually holds a password.
  postgresUrl: secret({
    env: ['POSTGRESQL_CONNECTION_STRING', 'DATABASE_URL'],
    description: 'postgres://user:password@host:port/database',
  }),
});

export type StorageConfig = SliceValues<typeof storageSlice>;
