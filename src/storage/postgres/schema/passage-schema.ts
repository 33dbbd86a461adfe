import { wordIndexSchema } from './word-index-schema.ts';

/** The passages of documents. */
export function passageSchema(): string {
  return `
  CREATE TABLE carrel.kb_passages (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    parent text COLLATE "C" NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    title text NOT NULL,
    headings text[] NOT NULL,
    body text NOT NULL,
    labels text[] COLLATE "C" NOT NULL
  );
  CREATE INDEX kb_passages_parent ON carrel.kb_passages (parent, position);
  CREATE INDEX kb_passages_labels ON carrel.kb_passages USING gin (labels);

  ${wordIndexSchema('kb_passage', 'kb_passages')}
  `;
}
