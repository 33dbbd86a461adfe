import type { OriginalStore } from '../contracts/ingestion.ts';
import { releaseOriginals, usedOriginals } from '../stores/documents/release-originals.ts';
import type { Transactions } from '../transactions.ts';
import { createOriginalFiles } from './original-files.ts';

/** Files that are looked at together, so that nobody else need wait for all of them. */
const sweptAtOnce = 500;

/** Bytes of documents as files beside the database. */
export function createOriginals(folder: string, { read, write }: Transactions): OriginalStore {
  const { list, ...files } = createOriginalFiles(folder);
  const release = async (hashes: readonly string[]): Promise<number> =>
    hashes.length === 0 ? 0 : write(releaseOriginals, { hashes });
  return {
    ...files,
    release,
    async sweep() {
      const hashes = list();
      let released = 0;
      for (let first = 0; first < hashes.length; first += sweptAtOnce) {
        const some = hashes.slice(first, first + sweptAtOnce);
        const used = new Set(await read(usedOriginals, { hashes: some }));
        // Nearly always none are left over: so the lock of the writer is not even taken.
        released += await release(some.filter((hash) => !used.has(hash)));
      }
      return released;
    },
  };
}
