import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Only in the namespace; nothing else listens there. */
export const nameServer = '127.0.0.53';

/** Why a namespace is unavailable on this machine, or undefined. */
export function namespaceObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces exist only on Linux';
  const probe = spawnSync('unshare', [...unshareFlags(), 'sh', '-c', 'ip link set lo up && mount -t tmpfs none /mnt'], {
    env: environment(),
    encoding: 'utf8',
  });
  if (probe.error !== undefined) return `unshare cannot be run (${probe.error.message})`;
  return probe.status === 0 ? undefined : `no network namespace can be made here (${probe.stderr.trim()})`;
}

/**
 * Runs a command in an isolated network with only a loopback interface. Every internet address is local, and the system's
 * resolver asks `nameServer`.
 */
export function runInNamespace(
  command: readonly string[],
  { folder, env, timeoutMs }: { folder: string; env: Record<string, string>; timeoutMs: number },
): { status: number | null; output: string } {
  const files: Record<string, string> = {
    '/etc/resolv.conf': `nameserver ${nameServer}\noptions timeout:1 attempts:1\n`,
    '/etc/nsswitch.conf': 'hosts: files dns\n',
    '/etc/hosts': '127.0.0.1 localhost localhost.localdomain\n::1 localhost ip6-localhost\n',
  };
  const mounts = Object.entries(files)
    .filter(([path]) => existsSync(path))
    .map(([path, content], index) => {
      const source = join(folder, `etc-${index}`);
      writeFileSync(source, content);
      return `mount --bind '${source}' '${path}'`;
    });
  const script = [
    'set -e',
    'ip link set lo up',
    'ip route add local 0.0.0.0/0 dev lo',
    'ip -6 route add local ::/0 dev lo',
    ...mounts,
    'exec "$@"',
  ].join('\n');
  const run = spawnSync('unshare', [...unshareFlags(), 'sh', '-c', script, 'sh', ...command], {
    env: { ...environment(), ...env },
    encoding: 'utf8',
    timeout: timeoutMs,
    maxBuffer: 16 * 1024 * 1024,
  });
  return { status: run.status, output: `${run.stdout}${run.stderr}` };
}

/** A user other than root becomes root of a user namespace, which may create networks. */
function unshareFlags(): string[] {
  return process.getuid?.() === 0 ? ['--net', '--mount'] : ['--map-root-user', '--net', '--mount'];
}

function environment(): Record<string, string> {
  return { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin:/usr/bin:/bin` };
}
