import { startPeer } from './peer-process.ts';
import { cpuMicroseconds, residentMegabytes } from './process-meter.ts';
import { initialize } from './wire-text.ts';

export interface StartUp {
  ms: number;
  /** All threads; more than the time where two of them ran at once, less where the process had to wait for a core. */
  cpuMs: number;
  residentMegabytes: number;
}

/** From spawn to the first `initialize` answer on stdio, as a client waits for it. */
export async function measureStartUp(argv: readonly string[]): Promise<StartUp> {
  const start = performance.now();
  const peer = startPeer(argv);
  peer.send(initialize);
  const answer = JSON.parse(await peer.nextLine());
  const ms = performance.now() - start;
  if (answer.result?.protocolVersion === undefined) throw new Error(`${argv.join(' ')} did not initialize`);
  const cpuMs = cpuMicroseconds(peer.pid) / 1000;
  const resident = residentMegabytes(peer.pid);
  await peer.kill();
  return { ms, cpuMs, residentMegabytes: resident };
}
