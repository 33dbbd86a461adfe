import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLeaseOwner, hasExited } from '../../src/jobs/lease-owner.ts';

const prefix = 'carrel-soak-';
const ownerFile = 'owner';

/** Creates a folder that names its owner. If this run is killed, a later one sees that the folder is abandoned. */
export function makeRunFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, prefix));
  writeFileSync(join(folder, ownerFile), createLeaseOwner());
  return folder;
}

/** Mounts a small disk that can be filled safely. If it can't be mounted, returns a plain folder. */
export function makeDisk(folder: string): { path: string; isMounted: boolean } {
  const path = join(folder, 'disk');
  mkdirSync(path);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1g', 'tmpfs', path], { stdio: 'ignore' });
    return { path, isMounted: true };
  } catch {
    return { path, isMounted: false };
  }
}

export function removeDisk(folder: string): void {
  const disk = join(folder, 'disk');
  // `-l` unmounts lazily, because a killed server may still be closing its files.
  if (isTmpfs(disk)) execFileSync('umount', ['-l', disk]);
}

export function removeFolder(folder: string): void {
  removeDisk(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Removes folders that killed runs of this user left behind. Keeps everything else, including folders of active runs. */
export function removeAbandonedFolders(parent: string): void {
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (name.startsWith(prefix) && isOwnedByUser(folder) && hasExited(ownerOf(folder))) removeFolder(folder);
  }
}

function isOwnedByUser(folder: string): boolean {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === process.getuid?.();
}

function ownerOf(folder: string): string {
  try {
    return readFileSync(join(folder, ownerFile), 'utf8');
  } catch {
    return '';
  }
}

function isTmpfs(path: string): boolean {
  try {
    return readFileSync('/proc/self/mounts', 'utf8').includes(`\ntmpfs ${path} tmpfs `);
  } catch {
    return false;
  }
}
