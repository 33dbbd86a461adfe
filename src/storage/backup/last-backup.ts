import { join } from 'node:path';
import { replaceFile } from '../../base/durable-files.ts';
import { isObject } from '../../base/json.ts';
import { readRegularFile } from '../../base/read-regular-file.ts';

/** The last backup that was made with this data folder. */
export interface LastBackup {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly file: string;
  readonly bytes: number;
}

const name = 'last-backup.json';
const bytesMax = 16_384;

export async function recordBackup(dataDir: string, backup: LastBackup): Promise<void> {
  await replaceFile(join(dataDir, name), Buffer.from(`${JSON.stringify(backup)}\n`));
}

/** Returns undefined if no backup was made or the file can't be read. */
export function readLastBackup(dataDir: string): LastBackup | undefined {
  try {
    const parsed: unknown = JSON.parse(readRegularFile(join(dataDir, name), bytesMax));
    if (!isObject(parsed)) return undefined;
    const { at, file, bytes } = parsed;
    const isComplete = typeof at === 'string' && typeof file === 'string' && typeof bytes === 'number';
    return isComplete && !Number.isNaN(Date.parse(at)) ? { at, file, bytes } : undefined;
  } catch {
    return undefined;
  }
}
