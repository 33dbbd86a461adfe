import { openConfiguredStorage, storageLocation } from '../../app/configured-storage.ts';
import type { Role } from '../../app/role.ts';
import { CarrelError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import type { Config } from '../../config/load.ts';
import { embeddingState } from '../../search/meaning/embedding-state.ts';
import { findForeignObjects, inspectStorage } from '../../storage/open-storage.ts';
import type { Storage } from '../../storage/storage.ts';
import { storageSlice } from '../../storage/storage-slice.ts';
import type { Check } from './check-machine.ts';
import { creationObstacle } from './check-machine.ts';

/** Checks that the database is usable and its indexes are complete, and counts texts without vectors. */
export async function checkDatabase(role: Role, config: Config): Promise<Check[]> {
  if (!role.slices.includes(storageSlice)) return [{ name: 'database', ok: true, found: 'none needed by this role' }];
  const settings = config.of(storageSlice);
  try {
    const location = storageLocation(settings, config.dataDir);
    const name = location.backend === 'sqlite' ? location.path : 'PostgreSQL';
    const { schema, newest } = await inspectStorage(location);
    if (schema === undefined) {
      const obstacle = location.backend === 'sqlite' ? creationObstacle(location.path) : undefined;
      if (obstacle !== undefined) return [{ name: 'database', ok: false, found: obstacle, remedy: fixPath }];
      return [{ name: 'database', ok: true, found: `${name}: created at the first start` }];
    }
    if (schema < newest) {
      return [
        { name: 'database', ok: true, found: `${name}: schema ${schema}, upgraded to ${newest} at the next start` },
      ];
    }
    // Checked before opening, because a query on a foreign view might never end.
    const foreign = await findForeignObjects(location);
    if (foreign.length > 0)
      return [{ name: 'database', ok: false, found: describeForeign(name, foreign), remedy: foreignRemedy }];
    const storage = await openConfiguredStorage(settings, config.dataDir, silentLogger);
    try {
      return [
        await checkContent(storage, name),
        ...(await checkReplica(storage)),
        ...(await checkBackground(storage)),
        ...(await checkEmbeddings(storage)),
        ...(await checkTokens(storage)),
      ];
    } finally {
      await storage.close();
    }
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    const remedy = settings.backend === 'sqlite' && error.code === 'unavailable' ? fixPath : remedies[error.code];
    return [{ name: 'database', ok: false, found: error.message, remedy: remedy ?? fixAndRepeat }];
  }
}

const fixAndRepeat = 'fix it, then run carrel doctor again';
const fixPath = 'fix DB_PATH or --data-dir, or the mode of the file and its folder';
const restoreBackup = 'stop Carrel, then run carrel restore <backup> --force';
const foreignRemedy =
  'find out who added them; carrel backup and carrel restore --force rebuild the database without them';

const listedMax = 10;

function describeForeign(name: string, foreign: readonly string[]): string {
  const more = foreign.length > listedMax ? ` and ${foreign.length - listedMax} more` : '';
  return `${name}: contains objects that Carrel did not create: ${foreign.slice(0, listedMax).join(', ')}${more}`;
}

const remedies: Partial<Record<CarrelError['code'], string>> = {
  storage_corrupt: restoreBackup,
  storage_newer: 'upgrade Carrel, or choose another database with --data-dir',
  storage_older: 'move its content with carrel export and carrel import, or choose another database with --data-dir',
  storage_lost: 'put the database back, or stop Carrel and run carrel restore <backup>',
  invalid_config: fixPath,
  storage_read_only: fixPath,
  storage_foreign: 'choose another file with DB_PATH or --data-dir',
  unavailable: 'start PostgreSQL, or fix POSTGRESQL_CONNECTION_STRING',
};

/** Checks the read replica. Its failure is easy to miss, because the primary answers instead. */
async function checkReplica({ replica }: Storage): Promise<Check[]> {
  if (replica === undefined) return [];
  const { behindBytes, trouble = '' } = await replica.check();
  if (behindBytes !== undefined)
    return [{ name: 'replica', ok: true, found: `${behindBytes} bytes behind the primary` }];
  const remedy = 'start the replica, or fix or remove DATABASE_READ_URL; until then the primary answers';
  return [{ name: 'replica', ok: false, found: trouble, remedy }];
}

/** Reports background work that failed. Servers record it in the database and retry it. */
async function checkBackground({ background }: Storage): Promise<Check[]> {
  const failures = (await background?.failures()) ?? [];
  return failures.map(({ name, code, since, attempts }) => ({
    name: 'background',
    ok: false,
    found: `"${name}" has failed ${attempts} times since ${since}: ${code}`,
    remedy: "check the server's log with LOG_LEVEL=debug, and its user's permissions; it is retried automatically",
  }));
}

/** Counts expired tokens, which may explain why a client is rejected. */
async function checkTokens({ tokens }: Storage): Promise<Check[]> {
  const all = await tokens.list();
  if (all.length === 0) return [];
  const now = new Date().toISOString();
  const expired = all.filter(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now);
  const [first] = expired;
  const found = `${all.length} tokens, ${expired.length} expired`;
  return [{ name: 'tokens', ok: true, found, ...(first ? { remedy: `carrel token revoke ${first.name}` } : {}) }];
}

async function checkContent(storage: Storage, name: string): Promise<Check> {
  const { version, schema, bytes } = await storage.describe();
  const problems = await storage.check();
  if (problems.length > 0) {
    return { name: 'database', ok: false, found: `${name}: ${problems.join(' ')}`, remedy: restoreBackup };
  }
  const engine = storage.backend === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  return { name: 'database', ok: true, found: `${name}: ${engine} ${version}, schema ${schema}, ${size}, intact` };
}

/** Reports the embedding models in use. There are several while one replaces another. */
async function checkEmbeddings(storage: Storage): Promise<Check[]> {
  const checks: Check[] = [];
  for (const { corpus, models, change } of await embeddingState(storage)) {
    for (const { model, dimensions, vectors, pending, index } of models) {
      const size = dimensions === undefined ? '' : ` of ${dimensions} dimensions`;
      const pendingText = pending === 0 ? 'none missing' : `${pending} texts not embedded yet`;
      const found = `${corpus}: ${model}, ${vectors} vectors${size}, ${pendingText}`;
      // A server builds the index in the background. Until then, each search scans every vector.
      const indexNote = index === 'none' && vectors > 0 ? ', no index yet' : '';
      checks.push({ name: 'meaning', ok: true, found: `${found}${indexNote}` });
    }
    if (change === undefined) continue;
    checks.push({ name: 'meaning', ok: true, found: `${corpus}: ${change.from} is being replaced by ${change.to}` });
  }
  return checks;
}
