import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import type { PostgresServer } from './postgres.ts';

/**
 * Runs PostgreSQL as WebAssembly in this process, for machines without a server. All clients share a single connection, and
 * statements can't be interrupted, so it is unsuitable for tests of locks, timeouts or crashes.
 */
export function createPglite(): PostgresServer {
  let image: Promise<Blob> | undefined;
  const running = new Set<() => Promise<void>>();
  return {
    // Each database is a separate instance, so there is no common URL.
    url: '',
    restart: undefined,
    async createDatabase() {
      image ??= emptyImage();
      const database = await PGlite.create({ extensions: { vector }, loadDataDir: await image });
      const server = new PGLiteSocketServer({ db: database, host: '127.0.0.1', port: 0, maxConnections: clientsMax });
      await server.start();
      const drop = async () => {
        if (!running.delete(drop)) return;
        await server.stop();
        await database.close();
      };
      running.add(drop);
      return { url: `postgres://postgres@${server.getServerConn()}/postgres`, drop };
    },
    async stop() {
      for (const drop of running) await drop();
    },
  };
}

/** Max clients: enough for eight storages in one test, each with a pool of ten. */
const clientsMax = 100;

/** Creates the empty database that all others are copied from, because creating one from scratch takes seconds. */
async function emptyImage(): Promise<Blob> {
  const template = await PGlite.create({ extensions: { vector } });
  const image = await template.dumpDataDir('none');
  await template.close();
  return image;
}
