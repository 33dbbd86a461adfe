import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { link, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { moveFile, writeNewFile } from '../../base/durable-files.ts';
import { systemCode } from '../../base/errors.ts';
import { removeLeftovers, temporaryPath } from '../../base/temporary-files.ts';
import { measureContent } from '../documents/originals.ts';
import { type ArchiveMember, damaged } from './archive.ts';

const prefix = 'documents/';

/** Name of an original: the SHA-256 of its content. */
const hashName = /^[0-9a-f]{64}$/;

/**
 * Hard links to the originals of documents, which are in a folder next to a SQLite file and never change. The links keep the
 * bytes available to the backup even if a document is removed meanwhile.
 */
export interface LinkedOriginals {
  /** Links the originals that are not linked yet. */
  linkNew(): Promise<void>;
  readonly count: number;
  has(hash: string): boolean;
  members(): AsyncIterable<ArchiveMember>;
  unlink(): Promise<void>;
}

export async function linkOriginals(folder: string): Promise<LinkedOriginals> {
  const linked = new Set<string>();
  const links = temporaryPath(folder);
  removeLeftovers(folder);
  const originals: LinkedOriginals = {
    async linkNew() {
      const stored = existsSync(folder) ? readdirSync(folder) : [];
      const names = stored.filter((name) => hashName.test(name) && !linked.has(name));
      if (names.length > 0) await mkdir(links, { recursive: true, mode: 0o700 });
      for (const name of names) {
        try {
          await link(join(folder, name), join(links, name));
          linked.add(name);
        } catch (error) {
          // A missing file was removed meanwhile, so no document needs it any longer.
          if (systemCode(error) !== 'ENOENT') throw error;
        }
      }
    },
    get count() {
      return linked.size;
    },
    has: (hash) => linked.has(hash),
    async *members() {
      for (const name of [...linked].sort()) {
        const file = join(links, name);
        yield { name: originalName(name), size: statSync(file).size, content: createReadStream(file) };
      }
    },
    unlink: () => rm(links, { recursive: true, force: true }),
  };
  await originals.linkNew();
  return originals;
}

export function originalName(hash: string): string {
  return `${prefix}${hash}`;
}

export function isOriginal({ name }: ArchiveMember): boolean {
  return name.startsWith(prefix);
}

/** Returns the SHA-256 in an original's name. */
export function originalHash({ name }: ArchiveMember): string {
  const hash = name.slice(prefix.length);
  if (!hashName.test(hash)) throw damaged();
  return hash;
}

/** Restores an original. Replaces an existing file of this name, which may be damaged. */
export async function restoreOriginal(member: ArchiveMember, folder: string): Promise<void> {
  const hash = originalHash(member);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, hash);
  const unfinished = temporaryPath(path);
  const { content, result } = measureContent(member.content, { bytesMax: member.size });
  try {
    await rm(unfinished, { force: true });
    await writeNewFile(unfinished, content);
    if (result().hash !== hash) throw damaged();
    await moveFile(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}
