import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { carrelProgram, type ListeningProgram, startListening, startProgram } from '../support/child-program.ts';
import { exchange, jsonHeaders, keepAliveAgent } from '../support/raw-http.ts';
import { sendRaw, statusOf } from '../support/raw-socket.ts';
import { size } from '../support/sizes.ts';
import { initializeParams } from '../support/stdio-client.ts';

const rounds = size({ quick: 25, full: 125 });
const token = 'Correct-Horse_battery.staple~1234567890';
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams('2025-11-25') });

describe('bearer tokens on the product (contract §2)', () => {
  let program: ListeningProgram;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
    program = await startListening(carrelProgram, ['serve', '--data-dir', folder, '--debug'], {
      CARREL_AUTH_TOKEN: token,
    });
  });
  after(async () => {
    assert.equal(await program.stop(), 0);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const initializeWith = (headers: Record<string, string>, url = program.url) =>
    exchange(url, { headers: { ...jsonHeaders, ...headers }, body });

  for (const method of ['POST', 'GET', 'DELETE', 'PUT', 'OPTIONS']) {
    for (const path of ['/mcp', '/sse', '/messages', '/', '/metrics', '/nothing']) {
      it(`T050: ${method} ${path} needs a token`, async () => {
        const { status, headers } = await exchange(String(new URL(path, program.url)), {
          method,
          headers: jsonHeaders,
        });
        assert.equal(status, 401);
        assert.equal(headers['www-authenticate'], 'Bearer');
      });
    }
  }

  it('T050: a bomb without a token is not even read', async () => {
    const bomb = `[${'{},'.repeat(1_300_000)}{}]`;
    const { status, messages } = await exchange(program.url, { headers: jsonHeaders, body: bomb });
    assert.equal(status, 401);
    assert.match(String(messages[0]?.error?.message), /bearer token/);
  });

  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    it(`T051: ${scheme} and the exact token are served`, async () => {
      assert.equal((await initializeWith({ authorization: `${scheme} ${token}` })).status, 200);
    });
  }

  const wrong: Record<string, string> = {
    'no token': 'Bearer ',
    'two spaces': `Bearer  ${token}`,
    'another scheme': `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
    'the bare token': token,
    'something behind it': `Bearer ${token} extra`,
    'two in one field': `Bearer ${token},Bearer x`,
    'a prefix': `Bearer ${token.slice(0, -1)}`,
    'a suffix': `Bearer ${token.slice(1)}`,
    'one character more': `Bearer ${token}0`,
    'other letters': `Bearer ${token.toLowerCase()}`,
    'look-alikes': `Bearer ${token.replace('C', '\u00c7')}`,
    '20 KB': `Bearer ${'x'.repeat(20_000)}`,
  };
  for (const [name, authorization] of Object.entries(wrong)) {
    it(`T051: rejects ${name}`, async () => {
      const { status, headers } = await initializeWith({ authorization });
      assert.equal(status, 401);
      assert.match(String(headers['www-authenticate']), /^Bearer( error="invalid_token")?$/);
    });
  }

  it('T051: rejects two fields, even if one is right; 1 MB of token and a NUL are bad requests', async () => {
    const send = async (...fields: string[]): Promise<number> => {
      const head = ['POST /mcp HTTP/1.1', 'Host: localhost', ...fields, 'Content-Length: 0', 'Connection: close'];
      return statusOf(await sendRaw(program.url, `${head.join('\r\n')}\r\n\r\n`));
    };
    assert.equal(await send(`Authorization: Bearer ${token}`, 'Authorization: Bearer x'), 401);
    assert.equal(await send(`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`), 401);
    assert.equal(await send(`Authorization: Bearer ${'x'.repeat(1_000_000)}`), 431);
    assert.equal(await send(`Authorization: Bearer ${token}\0`), 400);
  });

  for (const [name, value] of Object.entries({ empty: '', blank: '   ' })) {
    it(`T051: with an ${name} token, refuses to start beyond loopback`, async () => {
      const open = startProgram(carrelProgram, ['serve', '--transport', 'http', '--host', '0.0.0.0', '--port', '0'], {
        CARREL_AUTH_TOKEN: value,
      });
      assert.equal(await open.exited, 78);
      assert.match(open.stderrText(), /CARREL_AUTH_TOKEN/);
    });
  }

  it('T051: a blank token refuses to start at all', async () => {
    const open = startProgram(carrelProgram, ['serve', '--transport', 'http', '--port', '0'], {
      CARREL_AUTH_TOKEN: '   ',
    });
    assert.equal(await open.exited, 78);
  });

  const doors: [string, string][] = [
    ['serve', 'CARREL_AUTH_TOKEN'],
    ['serve', 'MCP_AUTH_TOKEN'],
    ['serve', 'KB_MCP_API_KEY'],
    ['serve', 'KB_API_KEY'],
    ['context', 'MCP_AUTH_TOKEN'],
    ['kb', 'KB_MCP_API_KEY'],
    ['kb', 'KB_API_KEY'],
    ['engine', 'KB_API_KEY'],
    ['research', 'CARREL_AUTH_TOKEN'],
  ];
  for (const [role, variable] of doors) {
    it(`T051: ${role} with an empty ${variable} refuses to start at all`, async () => {
      const transport = role === 'engine' ? [] : ['--transport', 'http'];
      const open = startProgram(carrelProgram, [role, ...transport, '--port', '0'], { [variable]: '' });
      assert.equal(await open.exited, 78);
      assert.match(open.stderrText(), new RegExp(`${variable} must be text, and not blank`));
    });
  }

  it('T052: ignores and never logs a token in the query, a cookie, the body or another header', async () => {
    const places: [string, Record<string, string>][] = [
      [`${program.url}?access_token=${token}`, {}],
      [program.url, { cookie: `access_token=${token}` }],
      [program.url, { 'x-api-key': token }],
      [program.url, { 'proxy-authorization': `Bearer ${token}` }],
    ];
    for (const [url, headers] of places) assert.equal((await initializeWith(headers, url)).status, 401);
    const inBody = await exchange(program.url, { headers: jsonHeaders, body: JSON.stringify({ access_token: token }) });
    assert.equal(inBody.status, 401);
    const log = readFileSync(join(folder, 'log', 'carrel.log'), 'utf8') + program.stderrText();
    assert(!log.includes(token));
  });

  it(`T054: accepts none of ${8 * rounds} random tokens, and rejects even the right one until the minute is over`, async () => {
    const agent = keepAliveAgent(8);
    const statuses = new Map<number, number>();
    const guess = async (): Promise<void> => {
      const authorization = `Bearer ${Math.random().toString(36)}${Math.random().toString(36)}`;
      const { status } = await exchange(program.url, { headers: { ...jsonHeaders, authorization }, body, agent });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    for (let round = 0; round < rounds; round += 1) await Promise.all(Array.from({ length: 8 }, guess));
    agent.destroy();
    assert.deepEqual([...statuses.keys()].sort(), [401, 429]);
    assert((statuses.get(401) ?? 0) <= 30);
    assert.equal((await initializeWith({ authorization: `Bearer ${token}` })).status, 429);
  });
});
