import type { Config } from '../../config/load.ts';
import { type Announcement, announcedOwners, isPrivateFolder, ownerFolder } from '../../sharing/owner-files.ts';
import { reachOwner } from '../../sharing/reach-owner.ts';
import type { Check } from './check-machine.ts';

/** Reports the processes that serve stdio clients, and any reason why clients can't share one. */
export async function checkSharing({ dataDir }: Config): Promise<Check[]> {
  if (process.platform === 'win32') return [];
  const folder = ownerFolder(dataDir, process.env);
  if (isPrivateFolder(folder) === false) {
    const found = `${folder} is accessible to other users: each stdio client gets a separate process`;
    return [{ name: 'sharing', ok: true, found, remedy: `remove ${folder}: it is recreated with safe permissions` }];
  }
  const owners = await Promise.all(announcedOwners(folder).map(({ announcement }) => describe(announcement)));
  return [{ name: 'sharing', ok: true, found: owners.length === 0 ? 'no stdio clients' : owners.join('; ') }];
}

async function describe(owner: Announcement): Promise<string> {
  const answer = await reachOwner(owner, '', 'status');
  const clients = typeof answer === 'object' ? answer.welcome.clients : undefined;
  const state = clients === undefined ? 'does not answer' : clients === 1 ? '1 client' : `${clients} clients`;
  return `process ${owner.pid} (${owner.role}, since ${owner.startedAt}): ${state}`;
}
