/**
 * Tests the built program under load and faults: `npm run soak -- [--minutes 180] [--points 5000] [--seed 1]`. The faults (the
 * "nemesis") kill and pause the program, fill its disk, fail its system calls, move its clock and restart PostgreSQL. Before that,
 * sweep-faults.ts repeats every write once per system call, with that call failing, up to `--points` times. Prints JSON; exits
 * with 1 if an acknowledged write was lost, a refusal gave no reason, or memory grew.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { createTestDatabase, startRealPostgres } from '../../test/support/postgres.ts';
import { faultObstacle, prepareFaults } from './fault-control.ts';
import { makeDisk, makeRunFolder, removeAbandonedFolders, removeDisk, removeFolder } from './run-folder.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '180' },
    points: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [minutes, points, seed] = [Number(values.minutes), Number(values.points), Number(values.seed)];
removeAbandonedFolders(tmpdir());
const folder = makeRunFolder(tmpdir());
const reports: Record<string, unknown> = { seed };
let hasFailed = false;
try {
  const obstacle = faultObstacle();
  if (obstacle === undefined && points > 0) await report('sweep', sweep());
  else reports['sweep'] = obstacle ?? 'not requested';
  await report('sqlite', onSqlite());
  await report('postgres', onPostgres());
} finally {
  process.stdout.write(`${JSON.stringify(reports, null, 2)}\n`);
  removeFolder(folder);
}
if (hasFailed) process.exitCode = 1;

async function report(name: string, work: Promise<{ faults?: readonly string[] } | string>): Promise<void> {
  const outcome = await work;
  reports[name] = outcome;
  if (typeof outcome !== 'string' && (outcome.faults?.length ?? 0) > 0) hasFailed = true;
}

async function sweep(): Promise<{ faults: readonly string[] }> {
  const data = join(folder, 'sweep');
  const { env } = prepareFaults(folder, data);
  const child = spawn(process.execPath, [join(import.meta.dirname, 'sweep-faults.ts'), data, String(points)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return output === '' ? { faults: [`the sweep ended with ${code}`] } : JSON.parse(output);
}

async function onSqlite() {
  const disk = makeDisk(folder);
  try {
    const dataDir = join(disk.path, 'data');
    const faults = faultObstacle() === undefined ? prepareFaults(folder, dataDir) : undefined;
    const fillable = disk.isMounted ? disk.path : undefined;
    return await soak({ minutes: minutes / 2, seed, dataDir, folder, faults, fillable });
  } finally {
    removeDisk(folder);
  }
}

async function onPostgres() {
  const server = await startRealPostgres();
  if (typeof server === 'string') return server;
  const { url, drop } = await createTestDatabase(server);
  try {
    const env = { STORAGE_BACKEND: 'postgresql', DATABASE_URL: url };
    const dataDir = join(folder, 'postgres');
    return await soak({ minutes: minutes / 2, seed, dataDir, folder, env, restartDatabase: server.restart });
  } finally {
    await drop();
    await server.stop();
  }
}
