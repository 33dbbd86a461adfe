/**
 * Compares the start-up of every role with that of a bundled SDK server: `node bench/protocol/run-start-up.ts [starts]`. Needs Linux
 * and the built product, as run.ts does.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { residentMegabytes } from '../processes.ts';
import { bundlePeers } from './bundle.ts';
import { startPeer } from './peer-process.ts';
import { type StartUpResult, startUpTable } from './report.ts';
import { fillCompileCache, measureStartUp } from './start-up.ts';
import { initialize } from './wire-text.ts';

const starts = Number(process.argv[2] ?? 11);
/** Time after which a server has finished its start-up work. */
const idleAfterMs = 5_000;

const product = new URL('../../bin/carrel.js', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
try {
  const fessFile = join(folder, 'fess.json');
  const domain = { id: 'finance', name: 'Finance', description: 'Reports', labelFilter: 'finance' };
  writeFileSync(fessFile, JSON.stringify({ fessBaseUrl: 'http://127.0.0.1:9', domain }));
  const argvOf = (role: string): string[] => {
    const flags = role === 'fess' ? ['--config', fessFile] : ['--data-dir', join(folder, role)];
    return [product, role, '--alone', '--transport', 'stdio', ...flags];
  };
  const fileOf = await bundlePeers(['sdk-v2-stdio']);
  const servers: [string, string[]][] = ['serve', 'context', 'research', 'kb', 'fess'].map((role) => [
    `carrel ${role}`,
    argvOf(role),
  ]);
  for (const [, argv] of servers) await fillCompileCache(argv);
  servers.push(['SDK v2, bundled', [fileOf('sdk-v2-stdio'), 'stdio']]);

  const results = servers.map(([server]): StartUpResult => ({ server, runs: [] }));
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  for (let start = 0; start < starts; start += 1) {
    for (const [index, [, argv]] of servers.entries()) results[index]?.runs.push(await measureStartUp(argv));
  }
  console.log(startUpTable(results));
  for (const [server, argv] of servers) console.log(`${server}: ${(await idleMegabytes(argv)).toFixed(0)} MB idle`);
} finally {
  rmSync(folder, { recursive: true });
}

async function idleMegabytes(argv: readonly string[]): Promise<number> {
  const peer = startPeer(argv);
  peer.send(initialize);
  await peer.nextLine();
  await pause(idleAfterMs);
  const resident = residentMegabytes(peer.pid);
  await peer.kill();
  return resident;
}
