import { defineSlice, optionalText } from '../config/field.ts';

export const storageSlice = defineSlice('storage', 'Storage', {
  path: optionalText({
    env: ['DB_PATH'],
    description:
      'The SQLite file that everything is kept in; a relative path starts from the current folder. Unless given, carrel.db in the data folder.',
  }),
});
