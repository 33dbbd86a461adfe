import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { NewToken, TokenStore } from '../../src/storage/tokens/token.ts';
import { onEachBackend } from '../support/backends.ts';

onEachBackend('named tokens', (backend) => {
  let tokens: TokenStore;
  const token = (name: string, digit: string, more: Partial<NewToken> = {}): NewToken => ({
    name,
    hash: digit.repeat(64),
    rights: {},
    expiresAt: undefined,
    ...more,
  });

  before(async () => {
    tokens = (await backend.open()).tokens;
  });

  test('contract §9 token add, list, revoke: each name is in use once, and a revoked token is gone at once', async () => {
    assert.equal(await tokens.any(), false);
    const rights = { toolsets: ['kb'], readOnly: true, collections: ['Ünï'], threads: ['a b'] };
    const expiresAt = '2027-01-31T00:00:00.000Z';
    assert.equal(await tokens.add(token('b', '1', { rights, expiresAt })), true);
    assert.equal(await tokens.add(token('a', '2')), true);
    assert.equal(await tokens.add(token('b', '3')), false);
    assert.deepEqual(
      (await tokens.list()).map(({ name }) => name),
      ['a', 'b'],
    );
    const found = await tokens.find({ hash: '1'.repeat(64) });
    assert.deepEqual(found && [found.name, found.rights, found.expiresAt, found.lastUsedAt], [
      ...['b', rights],
      ...[expiresAt, undefined],
    ]);
    assert.equal(await tokens.find({ hash: '3'.repeat(64) }), undefined);

    assert.equal(await tokens.revoke({ name: 'b' }), true);
    assert.equal(await tokens.revoke({ name: 'b' }), false);
    assert.equal(await tokens.find({ hash: '1'.repeat(64) }), undefined);
    assert.equal(await tokens.add(token('b', '4')), true);
    const again = await tokens.find({ hash: '4'.repeat(64) });
    assert.notEqual(again?.id, found?.id);
  });

  test('the time of last use never goes back', async () => {
    const id = (await tokens.find({ hash: '2'.repeat(64) }))?.id ?? 0;
    await tokens.touch({ id, time: '2026-11-15T10:00:00.000Z' });
    await tokens.touch({ id, time: '2026-11-15T09:00:00.000Z' });
    assert.equal((await tokens.find({ hash: '2'.repeat(64) }))?.lastUsedAt, '2026-11-15T10:00:00.000Z');
  });

  test('remembers that tokens existed after the last is revoked, until all are forgotten', async () => {
    await tokens.revoke({ name: 'a' });
    await tokens.revoke({ name: 'b' });
    assert.deepEqual(await tokens.list(), []);
    assert.equal(await tokens.any(), true);
    assert.equal(await tokens.add(token('c', '5')), true);
    assert.equal(await tokens.forgetAll(), 1);
    assert.equal(await tokens.any(), false);
  });
});
