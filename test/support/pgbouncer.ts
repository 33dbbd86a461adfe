import { spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Owner } from '../fakes/loopback-server.ts';
import { installPostgres, pgbouncer, postgresRoot } from './install-postgres.ts';
import { endProcess, freePort, nobody, startCommand } from './postgres-process.ts';
import { watchText } from './watch-text.ts';

/** Returns why PgBouncer is unavailable, for suites that need it. */
export function pgbouncerObstacle(): string | undefined {
  return installPostgres(postgresRoot());
}

/**
 * Starts PgBouncer in transaction mode, in which a client holds a connection only during a statement or a transaction. With
 * `max_prepared_statements = 0` it doesn't support prepared statements, like versions before 1.21.
 */
export async function startPgbouncer(
  t: Owner,
  serverUrl: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<{ urlOf(databaseUrl: string): string }> {
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), 'carrel-pgbouncer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const port = await freePort();
  const allSettings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: 4,
    max_client_conn: 200,
    max_prepared_statements: 0,
    ...settings,
  };
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${password}
[pgbouncer]
${Object.entries(allSettings)
  .map(([name, value]) => `${name} = ${value}\n`)
  .join('')}`,
  );
  if (process.getuid?.() === 0) for (const path of [folder, file]) chownSync(path, nobody, nobody);
  const [program, ...args] = [...startCommand(), join(postgresRoot(), pgbouncer), file];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => endProcess(child, 'SIGQUIT'));
  await watchText(child.stderr).waitForOutput(/process up/);
  return {
    urlOf(databaseUrl) {
      const url = new URL(databaseUrl);
      Object.assign(url, { hostname: '127.0.0.1', port: String(port), username: 'anybody', password: '' });
      return url.href;
    },
  };
}
