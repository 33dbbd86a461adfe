import { writeFileSync } from 'node:fs';
import { type ArchiveMember, readArchive, writeArchive } from '../../src/storage/backup/archive.ts';
import { type Manifest, readManifest, writeManifest } from '../../src/storage/backup/manifest.ts';

/** Rewrites a backup with another manifest or more members, and a matching checksum. */
export async function rewriteBackup(
  file: string,
  targetFile: string,
  change: (manifest: Manifest) => Manifest,
  extraMembers: readonly ArchiveMember[] = [],
): Promise<void> {
  async function* members(): AsyncGenerator<ArchiveMember> {
    let isFirst = true;
    for await (const member of readArchive(file)) {
      yield isFirst ? writeManifest(change(await readManifest(member))) : member;
      isFirst = false;
    }
    yield* extraMembers;
  }
  const parts: Uint8Array[] = [];
  for await (const part of writeArchive(members())) parts.push(part);
  writeFileSync(targetFile, Buffer.concat(parts));
}
