import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { parseBoundedJson } from '../../base/bounded-json.ts';
import { isObject } from '../../base/json.ts';
import { makeFolder } from '../../base/make-folder.ts';
import type { Config } from '../../config/load.ts';
import { httpSlice } from '../../config/slices.ts';
import { networkBarrier } from '../../documents/start-reader.ts';
import { createServiceClient } from '../../http/service-client.ts';

/** The result of one `carrel doctor` check. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  /** What to do next, if something fails or could work better. */
  remedy?: string;
}

const sqliteMin = [3, 46] as const;

export async function checkSqlite(): Promise<Check> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(':memory:');
  const query = "SELECT sqlite_version() AS version, sqlite_compileoption_used('ENABLE_FTS5') AS fullText";
  const row = database.prepare(query).get();
  database.close();
  const version = String(row?.['version']);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNewEnough = major > sqliteMin[0] || (major === sqliteMin[0] && minor >= sqliteMin[1]);
  // SQLite in Node before 22.16 has no FTS5, which the storage needs.
  const hasFullText = row?.['fullText'] === 1;
  const found = hasFullText ? version : `${version} without full-text search`;
  if (isNewEnough && hasFullText) return { name: 'sqlite', ok: true, found };
  return { name: 'sqlite', ok: false, found, remedy: 'install a newer Node, which bundles a newer SQLite' };
}

/** Free bytes below which the next write may fail: twice the size of a full write-ahead log. */
const fullBytes = 64 * 1024 * 1024;
/** Free bytes below which new documents will soon fill the disk. */
const nearlyFullBytes = 512 * 1024 * 1024;

export function checkDataFolder(folder: string): Check {
  try {
    const existed = existsSync(folder);
    makeFolder(folder);
    accessSync(folder, constants.R_OK | constants.W_OK);
    return { name: 'data folder', ok: true, found: existed ? folder : `${folder} (just created)` };
  } catch {
    const remedy = `make ${folder} writable, or choose another folder with --data-dir`;
    return { name: 'data folder', ok: false, found: `${folder} is not writable`, remedy };
  }
}

/** Checks the free space for these folders or, if they don't exist yet, for their nearest existing parents. */
export function checkDisks(folders: readonly string[]): Check[] {
  return [...new Set(folders)].flatMap((folder) => {
    try {
      const { bavail, blocks, bsize } = statfsSync(nearestExisting(folder));
      return [checkFreeSpace(folder, bavail * bsize, blocks * bsize)];
    } catch {
      // Not every system reports free space. checkDataFolder finds real problems.
      return [];
    }
  });
}

function checkFreeSpace(folder: string, free: number, size: number): Check {
  const found = `${formatBytes(free)} free of ${formatBytes(size)} at ${folder}`;
  const remedy = 'free some space on this disk, or choose another with --data-dir';
  if (free < fullBytes) return { name: 'disk', ok: false, found: `${found}: full`, remedy };
  if (free < nearlyFullBytes) return { name: 'disk', ok: true, found: `${found}: nearly full`, remedy };
  return { name: 'disk', ok: true, found };
}

function formatBytes(bytes: number): string {
  return bytes < 10e9 ? `${Math.floor(bytes / 1e6)} MB` : `${Math.floor(bytes / 1e9)} GB`;
}

/** Returns why a file can't be created at a path, or undefined. Leaves nothing behind. */
export function creationObstacle(path: string): string | undefined {
  const folder = nearestExisting(dirname(path));
  try {
    rmdirSync(mkdtempSync(join(folder, '.carrel-doctor-')));
    return undefined;
  } catch {
    return `${path} cannot be created: ${folder} is not a writable folder`;
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

export function checkPort(config: Config): Promise<Check> {
  const { host, port } = config.of(httpSlice);
  const address = `${host}:${port}`;
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' && (await isCarrel(host, port))) {
        resolve({ name: 'port', ok: true, found: `${address} is used by a running Carrel` });
        return;
      }
      const found = error.code === 'EADDRINUSE' ? `${address} is in use` : `cannot listen on ${address}`;
      resolve({
        name: 'port',
        ok: false,
        found,
        remedy: 'choose another with --port, or stop the program that uses it',
      });
    });
    probe.listen(port, host, () => probe.close(() => resolve({ name: 'port', ok: true, found: `${address} is free` })));
  });
}

const healthTimeoutMs = 2_000;
const healthBytesMax = 64 * 1024;
const loopbackHosts: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** True if a Carrel server answers at this address. */
async function isCarrel(host: string, port: number): Promise<boolean> {
  const reachableHost = loopbackHosts.get(host) ?? host;
  const urlHost = reachableHost.includes(':') ? `[${reachableHost}]` : reachableHost;
  const config = { baseUrl: `http://${urlHost}:${port}`, headers: {}, timeoutMs: healthTimeoutMs };
  const client = createServiceClient({ ...config, answerBytesMax: healthBytesMax });
  try {
    const { status, body } = await client.request({ method: 'GET', path: '/health' });
    const health = parseBoundedJson(body.toString('utf8'));
    return status === 200 && isObject(health) && typeof health['status'] === 'string';
  } catch {
    return false;
  } finally {
    client.close();
  }
}

/** Reports how the processes that read documents are sandboxed. */
export function checkReaders(): Check {
  const found = 'documents are read in processes without access to files';
  if (networkBarrier() !== undefined) return { name: 'readers', ok: true, found: `${found}, environment or network` };
  const reason = process.platform === 'linux' ? '`unshare --user --net` is not permitted here and ' : '';
  return {
    name: 'readers',
    ok: true,
    found: `${found} or environment; they can reach the network, because ${reason}Node ${process.versions.node} cannot block it (Node 25 can)`,
  };
}
