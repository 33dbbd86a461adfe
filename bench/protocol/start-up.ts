import { startPeer } from './peer-process.ts';
import { residentMegabytes } from './process-meter.ts';
import { initialize } from './wire-text.ts';

export interface StartUp {
  ms: number;
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
  const resident = residentMegabytes(peer.pid);
  await peer.kill();
  return { ms, residentMegabytes: resident };
}
