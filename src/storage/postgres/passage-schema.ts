import { wordIndexSchema } from './word-index-schema.ts';

/** The tables of one corpus. Part of released migrations: never to be changed. */
export function passageSchema(corpus: string): string {
  return `
  CREATE TABLE carrel.${corpus}_passages (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    parent text COLLATE "C" NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    title text NOT NULL,
    headings text[] NOT NULL,
    body text NOT NULL,
    labels text[] COLLATE "C" NOT NULL
  );
  CREATE INDEX ${corpus}_passages_parent ON carrel.${corpus}_passages (parent, position);
  CREATE INDEX ${corpus}_passages_labels ON carrel.${corpus}_passages USING gin (labels);

  ${wordIndexSchema(`${corpus}_passage`, `${corpus}_passages`)}
  `;
}
