import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { serverUrls } from './servers.ts';

describe('parses addresses of several servers like libpq', () => {
  const cases: [string, string[]][] = [
    ['postgres://u:p@one:5432/d', ['postgres://u:p@one:5432/d']],
    ['postgresql://u:p@one:5432,two:5433/d', ['postgresql://u:p@one:5432/d', 'postgresql://u:p@two:5433/d']],
    ['postgres://u:p@one,two', ['postgres://u:p@one', 'postgres://u:p@two']],
    ['postgres://u:a,b%40@one,[::1]:6432/d', ['postgres://u:a,b%40@one/d', 'postgres://u:a,b%40@[::1]:6432/d']],
    [
      'postgres://one,two/d?target_session_attrs=read-write&sslmode=verify-full',
      ['postgres://one/d?sslmode=verify-full', 'postgres://two/d?sslmode=verify-full'],
    ],
    ['postgres://u@/d?host=one,two&port=1,2', ['postgres://u@one:1/d', 'postgres://u@two:2/d']],
    ['postgres:///d?host=one,two&port=7', ['postgres://one:7/d', 'postgres://two:7/d']],
    ['postgres:///d?host=/run/postgresql', ['postgres:///d?host=/run/postgresql']],
    ['socket:/run/postgresql?db=d', ['socket:/run/postgresql?db=d']],
  ];
  for (const [address, urls] of cases) test(address, () => assert.deepEqual(serverUrls(address), urls));

  test('makes file paths in addresses absolute', () => {
    const file = encodeURIComponent(join(process.cwd(), 'ca.pem'));
    const urls = serverUrls('postgres://u:p@one/d?sslmode=verify-ca&sslrootcert=ca.pem&sslkey=/etc/key.pem');
    assert.deepEqual(urls, [`postgres://u:p@one/d?sslmode=verify-ca&sslrootcert=${file}&sslkey=%2Fetc%2Fkey.pem`]);
    assert.equal(serverUrls('postgres://one,two/d?sslcert=ca.pem')[1], `postgres://two/d?sslcert=${file}`);
  });

  test('never uses a standby for writes, or a primary as a replica', () => {
    assert.throws(() => serverUrls('postgres://u:hidden@one/d?target_session_attrs=standby'), {
      code: 'invalid_config',
      message: /^(?!.*hidden).*target_session_attrs/,
    });
    assert.throws(() => serverUrls('postgres://one/d?target_session_attrs=primary', 'standby'), {
      code: 'invalid_config',
    });
  });
});
