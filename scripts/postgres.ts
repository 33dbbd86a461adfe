/**
 * A PostgreSQL with pgvector for a whole run of tests: `node scripts/postgres.ts start` prints the line
 * `DATABASE_URL=…` and leaves the server running; `stop` ends it. If none is available, `start` says why and exits with 69.
 */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRealPostgres } from '../test/support/postgres.ts';

const stateFile = join(tmpdir(), 'carrel-postgres.json');
const command = process.argv[2];

if (command === 'start') await start();
else if (command === 'stop') stop();
else if (command === 'serve') await serve();
else {
  console.error('usage: node scripts/postgres.ts start|stop');
  process.exitCode = 2;
}

/** The server ends with the process that started it, so such a process is left running. */
async function start(): Promise<void> {
  stop();
  const keeper = spawn(process.execPath, [import.meta.filename, 'serve'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve) => {
    let text = '';
    keeper.stdout.on('data', (data) => {
      text += data;
      if (text.includes('\n')) resolve(text.trim());
    });
    keeper.once('exit', () => resolve(''));
  });
  if (line === '') {
    process.exitCode = 69;
    return;
  }
  writeFileSync(stateFile, JSON.stringify({ pid: keeper.pid }), { mode: 0o600 });
  console.log(line);
  keeper.stdout.destroy();
  keeper.unref();
}

function stop(): void {
  if (!existsSync(stateFile)) return;
  const { pid } = JSON.parse(readFileSync(stateFile, 'utf8'));
  rmSync(stateFile);
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has ended by itself.
  }
}

async function serve(): Promise<void> {
  const server = await startRealPostgres();
  if (typeof server === 'string') {
    console.error(server);
    process.exitCode = 69;
    return;
  }
  console.log(`DATABASE_URL=${server.url}`);
  const alive = setInterval(() => {}, 60_000);
  process.once('SIGTERM', async () => {
    await server.stop();
    clearInterval(alive);
  });
}
