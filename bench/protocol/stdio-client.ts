import type { PeerProcess } from './peer-process.ts';
import { callText, checkAnswer, initialize, initialized } from './wire-text.ts';

/** Sends calls to a server. Several calls may run at the same time. */
export interface Client {
  call(): Promise<void>;
  close(): void;
}

/** `isModern`: speak revision 2026-07-28, which has no handshake. */
export async function connectStdio(peer: PeerProcess, isModern: boolean): Promise<Client> {
  const pending = new Map<number, (line: string) => void>();
  let lastId = 0;
  if (!isModern) {
    peer.send(initialize);
    await peer.nextLine();
    peer.send(initialized);
  }
  const read = async (): Promise<void> => {
    for (;;) {
      const line = await peer.nextLine();
      const id = Number(JSON.parse(line).id);
      pending.get(id)?.(line);
      pending.delete(id);
    }
  };
  // Reading fails when the process ends, which is expected.
  read().catch(() => {});
  return {
    call() {
      lastId += 1;
      const id = lastId;
      peer.send(callText(id, isModern));
      return new Promise((resolve, reject) => {
        pending.set(id, (line) => {
          try {
            checkAnswer(line, id);
            resolve();
          } catch (error) {
            reject(error);
          }
        });
      });
    },
    close() {},
  };
}
