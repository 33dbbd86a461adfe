import { damaged } from '../backup/archive.ts';
import type { RowDigest } from './row-digest.ts';

/** What went from one kind of database to the other. */
export interface MoveReport {
  /** Rows and the SHA-256 of their content, the same in the backup and in the database that was filled. */
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly sha256: string }[];
  /** Originals of documents, each with the SHA-256 that it is named after. */
  readonly originals: number;
}

/** Throws unless what was read back is what the backup holds. */
export function verified(written: ReadonlyMap<string, RowDigest>, readBack: ReadonlyMap<string, RowDigest>) {
  return [...written].map(([name, digest]) => {
    const sha256 = digest.sum();
    const found = readBack.get(name);
    if (found?.rows !== digest.rows || found.sum() !== sha256) {
      throw damaged(new Error(`${name} was not written as it was read`));
    }
    return { name, rows: digest.rows, sha256 };
  });
}
