import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { limitConnections } from './connections.ts';

class Peer extends Socket {
  constructor(from: string) {
    super();
    Object.defineProperty(this, 'remoteAddress', { value: from });
  }
}

function limited(connectionsMax: number, perAddressMax: number) {
  const server: Server = createServer();
  const connections = limitConnections(server, { connectionsMax, perAddressMax });
  server.removeAllListeners('request');
  const join = (from: string): Peer => {
    const peer = new Peer(from);
    // Only our own listener: Node's would read from it.
    server.listeners('connection').at(-1)?.call(server, peer);
    return peer;
  };
  return { join, markBusy: connections.markBusy };
}

test('limits connections per address and closes the oldest idle one', async () => {
  const { join } = limited(10, 3);
  const own = Array.from({ length: 4 }, () => join('192.0.2.1'));
  assert.deepEqual(
    own.map(({ destroyed }) => destroyed),
    [true, false, false, false],
  );
  assert.equal(join('192.0.2.2').destroyed, false);
});

test('counts an IPv6 network as one address, and a mapped IPv4 address as itself', () => {
  const { join } = limited(10, 1);
  const first = join('2001:db8::1');
  assert.equal(join('2001:db8::2').destroyed, false);
  assert.equal(first.destroyed, true);
  const mapped = join('::ffff:192.0.2.1');
  join('192.0.2.1');
  assert.equal(mapped.destroyed, true);
});

test('at the total limit, closes the longest idle connection of the busiest address', async () => {
  const { join, markBusy } = limited(6, 5);
  const flood = Array.from({ length: 5 }, () => join('192.0.2.1'));
  const other = join('192.0.2.2');
  markBusy(flood[0] as Peer);
  const late = join('192.0.2.3');
  assert.deepEqual(
    [...flood, other, late].map(({ destroyed }) => destroyed),
    [false, true, false, false, false, false, false],
  );
});

test('never closes connections in use: the new one is refused', async () => {
  const { join, markBusy } = limited(2, 2);
  const [first, second] = [join('192.0.2.1'), join('192.0.2.1')];
  const release = markBusy(first);
  markBusy(second);
  assert.equal(join('192.0.2.1').destroyed, true);
  assert.equal(join('192.0.2.2').destroyed, true);
  release();
  assert.equal(join('192.0.2.2').destroyed, false);
  assert.equal(first.destroyed, true);
  if (!first.closed) await once(first, 'close');
});

test('clients on this machine share an address and may use all connections', () => {
  const { join } = limited(4, 1);
  const all = ['127.0.0.1', '::1', '127.0.0.1', '::ffff:127.0.0.1'].map(join);
  assert.ok(all.every(({ destroyed }) => !destroyed));
});
