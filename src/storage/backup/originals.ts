import { createHash, type Hash } from 'node:crypto';
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { link, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { moveFile, writeNewFile } from '../../base/durable-files.ts';
import { systemCode } from '../../base/errors.ts';
import { removeLeftovers, temporaryPath } from '../../base/temporary-files.ts';
import { type ArchiveMember, damaged } from './archive.ts';

const prefix = 'documents/';

/**
 * Hard links to the originals of documents, which are in a folder next to a SQLite file and never change. With its own links,
 * the backup has the bytes even if a document is removed meanwhile.
 */
export interface HeldOriginals {
  /** Also links originals that were added since the last call. */
  catchUp(): Promise<void>;
  readonly count: number;
  has(hash: string): boolean;
  members(): AsyncIterable<ArchiveMember>;
  release(): Promise<void>;
}

export async function holdOriginals(folder: string): Promise<HeldOriginals> {
  const held = new Set<string>();
  const holding = temporaryPath(folder);
  removeLeftovers(folder);
  const originals: HeldOriginals = {
    async catchUp() {
      for (const name of originalsIn(folder)) {
        if (held.has(name)) continue;
        await mkdir(holding, { recursive: true, mode: 0o700 });
        // If the original was removed meanwhile, no document needs it any longer.
        if (await linked(join(folder, name), join(holding, name))) held.add(name);
      }
    },
    get count() {
      return held.size;
    },
    has: (hash) => held.has(hash),
    async *members() {
      for (const name of [...held].sort()) {
        const file = join(holding, name);
        yield { name: originalName(name), size: statSync(file).size, content: createReadStream(file) };
      }
    },
    release: () => rm(holding, { recursive: true, force: true }),
  };
  await originals.catchUp();
  return originals;
}

export function originalName(hash: string): string {
  return `${prefix}${hash}`;
}

export function isOriginal({ name }: ArchiveMember): boolean {
  return name.startsWith(prefix);
}

/** Returns the SHA-256 in an original's name. */
export function originalHash(member: Pick<ArchiveMember, 'name'>): string {
  const name = member.name.slice(prefix.length);
  if (!hashName.test(name)) throw damaged();
  return name;
}

/** Restores an original. Replaces an existing file of this name, which may be damaged. */
export async function restoreOriginal(member: ArchiveMember, folder: string): Promise<void> {
  const name = originalHash(member);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const unfinished = temporaryPath(path);
  const hash = createHash('sha256');
  try {
    await rm(unfinished, { force: true });
    await writeNewFile(unfinished, hashing(member.content, hash));
    if (hash.digest('hex') !== name) throw damaged();
    await moveFile(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function* hashing(content: ArchiveMember['content'], hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Name of an original: the SHA-256 of its content. */
const hashName = /^[0-9a-f]{64}$/;

function originalsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => hashName.test(name));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
