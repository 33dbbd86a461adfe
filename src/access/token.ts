import { createHash, randomBytes } from 'node:crypto';

/** So that people and scanners recognise one that has leaked. */
const prefix = 'carrel_';
const form = /^carrel_[A-Za-z0-9_-]{43}$/;

/** 256 random bits. */
export function createToken(): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`;
}

/** Whether it could be one of ours. Anything else need not be looked up. */
export function isTokenForm(text: string): boolean {
  return form.test(text);
}

/** What is stored. A slow hash would add nothing: nobody can try 2^256 tokens. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
