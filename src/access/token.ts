import { createHash, randomBytes } from 'node:crypto';

/** Prefix of every token, by which people and secret scanners recognise a leaked one. */
const prefix = 'carrel_';
const tokenPattern = /^carrel_[A-Za-z0-9_-]{43}$/;

/** Creates a token from 256 random bits. */
export function createToken(): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`;
}

/** True if the text looks like a token. Other texts need no lookup. */
export function isTokenForm(text: string): boolean {
  return tokenPattern.test(text);
}

/** Hashes a token for storage. A slow hash is not needed: nobody can try 2^256 tokens. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Caller names that the program uses itself. */
const reserved = ['default', 'local'];

export const nameRule =
  'must have 1 to 64 letters, digits, dots, hyphens or underscores, begin with a letter or digit, and not be default or local';

/** True if a token may have this name, which appears in logs, metrics and tables. */
export function isTokenName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && !reserved.includes(name);
}

const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** Matches a time of RFC 3339. Requires the UTC offset: without one, the time would depend on the machine's time zone. */
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

export const expiryForms = 'a time such as 2027-01-31T00:00:00Z, or a span such as 12h, 30d or 8w';

/** Returns the expiry as ISO 8601 in UTC. Undefined if the text has neither form. */
export function readExpiry(text: string, now: Date): string | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([hdw])$/.exec(text) ?? [];
  const time = count === undefined ? parseInstant(text) : now.getTime() + Number(count) * (unitsMs[unit] ?? Number.NaN);
  const isStorable = Number.isFinite(time) && time > 0 && time < Date.UTC(10_000, 0);
  return isStorable ? new Date(time).toISOString() : undefined;
}

function parseInstant(text: string): number {
  return instant.test(text) ? Date.parse(text) : Number.NaN;
}
