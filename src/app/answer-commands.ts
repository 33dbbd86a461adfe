import { sharingSlice } from '../config/slices.ts';
import { ownerFiles, ownerFolder } from '../sharing/owner-files.ts';
import type { RelayService } from '../sharing/serve-relays.ts';
import { type SharedProcess, shareProcess } from '../sharing/share-process.ts';

/** Lets an HTTP server also answer its user's commands, on a socket that nobody else can reach. */
export async function answerCommands(shared: Omit<SharedProcess, 'idleMs'>): Promise<RelayService | undefined> {
  const { config, commandKey } = shared;
  if (commandKey === undefined || config.of(sharingSlice).alone || process.platform === 'win32') return undefined;
  const files = ownerFiles(ownerFolder(config.dataDir, process.env), commandKey);
  // The server's messages for people go to its own stderr, not to the commands.
  const voice = { tell() {}, outputAtStart: () => '', handOver() {} };
  return shareProcess({ files, say() {}, voice }, { ...shared, idleMs: undefined }, () => {});
}
