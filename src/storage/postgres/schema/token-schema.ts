/** Named tokens. Keys are never given again: whoever used a revoked token is not taken for the holder of a new one. */
export function tokenSchema(): string {
  const text = 'text COLLATE "C"';
  return `
  CREATE TABLE carrel.access_tokens (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name ${text} NOT NULL,
    hash ${text} NOT NULL UNIQUE CHECK (length(hash) = 64),
    rights text NOT NULL,
    created_at ${text} NOT NULL CHECK (length(created_at) = 24),
    expires_at ${text} CHECK (length(expires_at) = 24),
    last_used_at ${text} CHECK (length(last_used_at) = 24),
    revoked_at ${text} CHECK (length(revoked_at) = 24)
  );
  CREATE UNIQUE INDEX access_tokens_name ON carrel.access_tokens (name) WHERE revoked_at IS NULL;
  `;
}
