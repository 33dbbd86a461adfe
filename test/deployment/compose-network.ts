import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { Owner } from '../fakes/loopback-server.ts';

/** Separate hosts on one bridge that resolve each other by name, like the services of a compose file. */
export interface ComposeNetwork {
  addressOf(service: string): string;
  /** Starts a command on a service's host; it ends with the test. */
  start(service: string, command: readonly string[], env: Record<string, string>): ChildProcess;
  /** Serves as a service on this machine, by forwarding connections to another port. */
  forward(service: string, port: number, target: { host: string; port: number }): Promise<void>;
}

/** Why such a network is unavailable here, or undefined. */
export function networkObstacle(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can make network namespaces';
  const name = `carrel-probe-${process.pid}`;
  const probe = run(['netns', 'add', name]);
  if (probe !== undefined) return `no network namespace can be made here (${probe})`;
  const bridge = run(['link', 'add', bridgeName(), 'type', 'bridge']);
  run(['netns', 'del', name]);
  run(['link', 'del', bridgeName()]);
  return bridge === undefined ? undefined : `no bridge can be made here (${bridge})`;
}

/** Each service in `remote` gets a host; this machine stands in for the services in `here`. */
export function createComposeNetwork(t: Owner, remote: readonly string[], here: readonly string[]): ComposeNetwork {
  const subnet = `10.233.${process.pid % 250}`;
  const addresses = new Map([
    ...here.map((name): [string, string] => [name, `${subnet}.1`]),
    ...remote.map((name, index): [string, string] => [name, `${subnet}.${index + 2}`]),
  ]);
  const addressOf = (service: string) => addresses.get(service) ?? assert.fail(`no service ${service}`);
  const hostOf = (service: string) => `carrel-${process.pid}-${service}`;
  const hosts = [...addresses].map(([name, address]) => `${address} ${name}\n`).join('');

  t.after(() => {
    for (const service of remote) {
      run(['netns', 'del', hostOf(service)]);
      rmSync(join('/etc/netns', hostOf(service)), { recursive: true, force: true });
    }
    run(['link', 'del', bridgeName()]);
  });
  must(['link', 'add', bridgeName(), 'type', 'bridge']);
  must(['addr', 'add', `${subnet}.1/24`, 'dev', bridgeName()]);
  must(['link', 'set', bridgeName(), 'up']);
  for (const [index, service] of remote.entries()) {
    const [host, outer, inner] = [hostOf(service), `cv${process.pid}-${index}`, `ci${process.pid}-${index}`];
    // `ip netns exec` mounts these files over the ones in /etc.
    mkdirSync(join('/etc/netns', host), { recursive: true });
    writeFileSync(join('/etc/netns', host, 'hosts'), `127.0.0.1 localhost\n${hosts}`);
    must(['netns', 'add', host]);
    must(['link', 'add', outer, 'type', 'veth', 'peer', 'name', inner]);
    must(['link', 'set', inner, 'netns', host]);
    must(['link', 'set', outer, 'master', bridgeName(), 'up']);
    for (const args of [
      ['link', 'set', 'lo', 'up'],
      ['addr', 'add', `${addressOf(service)}/24`, 'dev', inner],
      ['link', 'set', inner, 'up'],
    ]) {
      must(['-n', host, ...args]);
    }
  }

  return {
    addressOf,
    start(service, command, env) {
      const child = spawn('ip', ['netns', 'exec', hostOf(service), ...command], {
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      t.after(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        await ended;
      });
      return child;
    },
    async forward(service, port, target) {
      const server = createServer((socket) => {
        const other = connect(target);
        socket.on('error', () => other.destroy()).pipe(other);
        other.on('error', () => socket.destroy()).pipe(socket);
      });
      await new Promise<void>((resolve) => server.listen(port, addressOf(service), resolve));
      t.after(() => void server.close());
    },
  };
}

/** At most 15 characters. */
function bridgeName(): string {
  return `cb${process.pid}`;
}

function must(args: readonly string[]): void {
  const problem = run(args);
  assert.equal(problem, undefined, `ip ${args.join(' ')}: ${problem}`);
}

/** The error, or undefined. */
function run(args: readonly string[]): string | undefined {
  const result = spawnSync('ip', args, { encoding: 'utf8' });
  if (result.error !== undefined) return result.error.message;
  return result.status === 0 ? undefined : result.stderr.trim();
}
