import { sharingSlice } from '../config/slices.ts';
import { ownerFiles, ownerFolder } from '../sharing/owner-files.ts';
import type { RelayService } from '../sharing/serve-relays.ts';
import { type SharedProcess, shareProcess } from '../sharing/share-process.ts';

/** Lets an HTTP server also answer the `carrel` commands of its user, on a socket that other users can't reach. */
export async function answerCommands(shared: Omit<SharedProcess, 'idleMs'>): Promise<RelayService | undefined> {
  const { config, commandKey } = shared;
  if (commandKey === undefined || config.of(sharingSlice).alone || process.platform === 'win32') return undefined;
  const files = ownerFiles(ownerFolder(config.dataDir, process.env), commandKey);
  // The server's own messages go to its stderr, not to the commands.
  const userOutput = { print() {}, outputAtStart: () => '', handOver() {} };
  return shareProcess({ files, reportState() {}, userOutput }, { ...shared, idleMs: undefined }, () => {});
}
