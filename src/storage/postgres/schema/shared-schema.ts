/**
 * What processes keep in common for a while. Times are milliseconds of the server's clock. A part whose number is negative
 * is still being written.
 */
export function sharedSchema(): string {
  const text = 'text COLLATE "C"';
  return `
  CREATE TABLE carrel.shared_parts (
    kind ${text} NOT NULL,
    id ${text} NOT NULL,
    part bigint NOT NULL,
    piece integer NOT NULL,
    content bytea NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (kind, id, part, piece)
  );
  CREATE INDEX shared_parts_expiry ON carrel.shared_parts (expires_at);
  ALTER TABLE carrel.schema_version ADD COLUMN usable_from integer NOT NULL DEFAULT 4;
  `;
}
