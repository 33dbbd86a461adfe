import { cpuMicroseconds, residentMegabytes } from '../processes.ts';
import { startPeer } from './peer-process.ts';
import { initialize, initialized, listTools } from './wire-text.ts';

export interface StartUp {
  /** Time from spawn to the answer to `initialize`. */
  initializeMs: number;
  /** Time from spawn to the answer to `tools/list`, which a client usually requests next. */
  listMs: number;
  /** CPU time of all threads. It exceeds the wall time if threads ran in parallel. */
  cpuMs: number;
  residentMegabytes: number;
}

/** Starts a server on stdio and measures the time to its answers to `initialize` and `tools/list`. */
export async function measureStartUp(argv: readonly string[]): Promise<StartUp> {
  const start = performance.now();
  const peer = startPeer(argv);
  peer.send(initialize);
  const answer = JSON.parse(await peer.nextLine());
  const initializeMs = performance.now() - start;
  if (answer.result?.protocolVersion === undefined) throw new Error(`${argv.join(' ')} did not initialize`);
  const cpuMs = cpuMicroseconds(peer.pid) / 1000;
  const resident = residentMegabytes(peer.pid);
  const listStart = performance.now();
  peer.send(initialized);
  peer.send(listTools);
  const list = JSON.parse(await peer.nextLine());
  const listMs = initializeMs + performance.now() - listStart;
  if (list.result === undefined) throw new Error(`${argv.join(' ')} did not list its tools`);
  await peer.kill();
  return { initializeMs, listMs, cpuMs, residentMegabytes: resident };
}

/** Starts the server once and stops it normally, so that later starts find its compiled code in the cache. */
export async function fillCompileCache(argv: readonly string[]): Promise<void> {
  const peer = startPeer(argv);
  peer.send(initialize);
  await peer.nextLine();
  await peer.end();
}
