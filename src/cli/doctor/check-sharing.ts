import { connect } from 'node:net';
import type { Config } from '../../config/load.ts';
import { createFrameReader, encodeFrame, frameKinds, type Hello, type OwnerStatus } from '../../sharing/frames.ts';
import { type Announcement, announcedOwners, isPrivateFolder, ownerFolder } from '../../sharing/owner-files.ts';
import type { Check } from './check.ts';

const answerMs = 2_000;
const answerBytesMax = 64 * 1024;

/** Reports the processes that serve stdio clients, and any reason why clients can't share one. */
export async function checkSharing({ dataDir }: Config): Promise<Check[]> {
  if (process.platform === 'win32') return [];
  const folder = ownerFolder(dataDir, process.env);
  if (isPrivateFolder(folder) === false) {
    const found = `${folder} is accessible to other users: each stdio client gets a separate process`;
    return [{ name: 'sharing', ok: true, found, remedy: `remove ${folder}: it is recreated with safe permissions` }];
  }
  const owners = announcedOwners(folder).map(({ announcement }) => announcement);
  const shown = await Promise.all(owners.map(async (owner) => describe(owner, await statusOf(owner))));
  return [{ name: 'sharing', ok: true, found: shown.length === 0 ? 'no stdio clients' : shown.join('; ') }];
}

function describe({ pid, role, startedAt }: Announcement, status: OwnerStatus | undefined): string {
  const clients =
    status === undefined ? 'does not answer' : status.clients === 1 ? '1 client' : `${status.clients} clients`;
  return `process ${pid} (${role}, since ${startedAt}): ${clients}`;
}

function statusOf({ socket: path, secret }: Announcement): Promise<OwnerStatus | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const timeout = setTimeout(() => socket.destroy(), answerMs);
    const hello: Hello = { secret, wants: 'status', client: '', folder: '' };
    socket.once('connect', () => socket.write(encodeFrame(frameKinds.hello, 0, JSON.stringify(hello))));
    const read = createFrameReader(
      () => answerBytesMax,
      ({ kind, bytes }) => {
        if (kind === frameKinds.welcome) resolve(JSON.parse(bytes.toString()));
      },
    );
    socket.on('data', read);
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(timeout);
      resolve(undefined);
    });
  });
}
