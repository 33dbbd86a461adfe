import { startPeer } from './peer-process.ts';
import { cpuMicroseconds, residentMegabytes } from './process-meter.ts';
import { initialize, initialized, listTools } from './wire-text.ts';

export interface StartUp {
  ms: number;
  /** From spawn to the answer to `tools/list`, the client's next request. */
  listMs: number;
  /** CPU time of all threads: more than the wall time if two ran at once, less if the process waited for a core. */
  cpuMs: number;
  residentMegabytes: number;
}

/** From spawn to the first `initialize` answer on stdio. */
export async function measureStartUp(argv: readonly string[]): Promise<StartUp> {
  const start = performance.now();
  const peer = startPeer(argv);
  peer.send(initialize);
  const answer = JSON.parse(await peer.nextLine());
  const ms = performance.now() - start;
  if (answer.result?.protocolVersion === undefined) throw new Error(`${argv.join(' ')} did not initialize`);
  const cpuMs = cpuMicroseconds(peer.pid) / 1000;
  const resident = residentMegabytes(peer.pid);
  const asked = performance.now();
  peer.send(initialized);
  peer.send(listTools);
  const list = JSON.parse(await peer.nextLine());
  const listMs = ms + performance.now() - asked;
  if (list.result === undefined) throw new Error(`${argv.join(' ')} did not list its tools`);
  await peer.kill();
  return { ms, listMs, cpuMs, residentMegabytes: resident };
}

/** Starts once and exits normally, so that later starts find a filled compile cache. */
export async function startBefore(argv: readonly string[]): Promise<void> {
  const peer = startPeer(argv);
  peer.send(initialize);
  await peer.nextLine();
  await peer.end();
}
