/**
 * Measures one, two and four processes on one PostgreSQL behind a balancer, with a mix of writes, searches and uploads from many
 * clients. Checks every answer: nothing may be lost, stored twice or stale.
 *
 *     npm run build && node bench/scale/run.ts                    # 1, 2 and 4 processes, 50 clients, 30 seconds each
 *     node bench/scale/run.ts --processes 2 --clients 20 --seconds 10 --kill   # one process is killed in the middle
 *
 * `--rounds 3` measures each number of processes three times, alternating, and reports medians. Prints Markdown; exits with 1 if an
 * answer was wrong. Needs Linux, because it reads /proc. The clients, the balancer and a fake embedding server run in this process.
 */
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { createTestDatabase, type PostgresServer, startRealPostgres } from '../../test/support/postgres.ts';
import { parentOf, treeCpuMs } from '../processes.ts';
import { scaleTable, timesTable } from './report.ts';
import { measureScale, type ScaleFigures } from './scale.ts';

const { values: options } = parseArgs({
  options: {
    processes: { type: 'string', default: '1,2,4' },
    clients: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    kill: { type: 'boolean', default: false },
  },
});
const [clients, seconds, seed] = [Number(options.clients), Number(options.seconds), Number(options.seed)];
const cores = availableParallelism();
const server = await startRealPostgres();
if (typeof server === 'string') throw new Error(server);
console.log(
  `Node ${process.versions.node}, ${process.arch}, ${cores} cores, load ${loadavg()[0]?.toFixed(1)} at the start; ${clients} clients, ${seconds} s.\n`,
);
const figures: ScaleFigures[] = [];
try {
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const processes of options.processes.split(',').map(Number))
      figures.push(await measureOnce(server, processes, round));
  }
} finally {
  await server.stop();
}
console.log(scaleTable(figures, cores));
console.log(timesTable(figures));
const faults = figures.flatMap((each) => each.faults);
for (const fault of faults.slice(0, 50)) console.log(`- ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;

async function measureOnce(server: PostgresServer, processes: number, round: number): Promise<ScaleFigures> {
  const database = await createTestDatabase(server);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const [row] = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
    const postmaster = parentOf(row?.pid ?? 0) ?? 0;
    const measured = await measureScale({
      processes,
      clients,
      seconds,
      seed: seed + round,
      kills: options.kill,
      databaseUrl: database.url,
      databaseCpuMs: () => treeCpuMs([postmaster]),
    });
    // Progress on stderr: the table appears only at the end.
    console.error(`${processes} processes: ${measured.calls} calls, ${measured.faults.length} wrong answers`);
    return measured;
  } finally {
    await client.end();
    await database.drop();
  }
}
