import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { link, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type ArchiveMember, damaged } from './archive.ts';
import { createPrivateFile, removeLeftovers, syncFolder, temporaryPath } from './own-files.ts';

const prefix = 'documents/';

/**
 * The originals of documents, which lie in a folder beside a SQLite file and never change once they are there. They are
 * held by second links to the same bytes: whoever removes a document while it is backed up does not take them away.
 */
export interface HeldOriginals {
  /** Holds those that have come since. */
  catchUp(): Promise<void>;
  readonly count: number;
  members(): AsyncIterable<ArchiveMember>;
  release(): Promise<void>;
}

export async function holdOriginals(folder: string): Promise<HeldOriginals> {
  const held = new Set<string>();
  const holding = temporaryPath(folder);
  removeLeftovers(folder);
  const originals: HeldOriginals = {
    async catchUp() {
      for (const name of filesBelow(folder)) {
        if (held.has(name)) continue;
        const place = join(holding, name);
        await mkdir(dirname(place), { recursive: true, mode: 0o700 });
        // One that was removed meanwhile belongs to no document any more.
        if (await linked(join(folder, name), place)) held.add(name);
      }
    },
    get count() {
      return held.size;
    },
    async *members() {
      for (const name of [...held].sort()) {
        const file = join(holding, name);
        yield { name: `${prefix}${name}`, size: statSync(file).size, content: createReadStream(file) };
      }
    },
    release: () => rm(holding, { recursive: true, force: true }),
  };
  await originals.catchUp();
  return originals;
}

export function isOriginal({ name }: ArchiveMember): boolean {
  return name.startsWith(prefix);
}

/** Puts an original where it was. One that is there already has the same content, unless it was damaged. */
export async function restoreOriginal(member: ArchiveMember, folder: string): Promise<void> {
  const name = member.name.slice(prefix.length);
  if (!safeName.test(name)) throw damaged();
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = temporaryPath(path);
  await rm(unfinished, { force: true });
  await pipeline(member.content, createPrivateFile(unfinished));
  await rename(unfinished, path);
  syncFolder(dirname(path));
}

/** Folders and files whose names cannot lead out of the folder. */
const safeName = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*){0,4}$/;

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => safeName.test(name) && !name.endsWith('.tmp'));
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
