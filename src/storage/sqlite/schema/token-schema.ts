/** Named tokens. Keys are never given again: whoever used a revoked token is not taken for the holder of a new one. */
export function tokenSchema(): string {
  return `
  CREATE TABLE access_tokens (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
    rights TEXT NOT NULL CHECK (json_type(rights) = 'object'),
    created_at TEXT NOT NULL CHECK (length(created_at) = 24),
    expires_at TEXT CHECK (length(expires_at) = 24),
    last_used_at TEXT CHECK (length(last_used_at) = 24),
    revoked_at TEXT CHECK (length(revoked_at) = 24)
  ) STRICT;
  CREATE UNIQUE INDEX access_tokens_name ON access_tokens (name) WHERE revoked_at IS NULL;
  `;
}
