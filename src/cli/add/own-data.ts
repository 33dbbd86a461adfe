import { basename, dirname, join } from 'node:path';
import { storageLocation } from '../../app/configured-storage.ts';
import { realPath } from '../../base/real-path.ts';
import type { Config } from '../../config/load.ts';
import { databaseFiles } from '../../storage/sqlite/database-paths.ts';
import { storageSlice } from '../../storage/storage-slice.ts';
import { kbSlice } from '../../toolsets/kb/kb-slice.ts';

/**
 * Returns a test for the data folder and the database, which must not be added. They change with every document. Also, a
 * process that reads its own SQLite file as a plain file loses its locks on it.
 */
export function ownDataOf(config: Config): (path: string) => boolean {
  const folder = realPath(config.dataDir);
  const isEngineRemote = config.of(kbSlice).engineUrl !== undefined;
  const location = isEngineRemote ? undefined : storageLocation(config.of(storageSlice), config.dataDir);
  if (location?.backend !== 'sqlite') return (path) => path === folder;
  const files = databaseFiles(join(realPath(dirname(location.path)), basename(location.path)));
  const documents = realPath(location.documentsDir ?? config.dataDir);
  return (path) => path === folder || path === documents || files.includes(path);
}
