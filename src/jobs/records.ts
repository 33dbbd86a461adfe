import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder, writeNewFile } from '../base/durable-files.ts';
import { systemCode } from '../base/errors.ts';
import { makeFolder } from '../base/make-folder.ts';
import type { ListedPart, SharedStore } from '../base/shared-store.ts';

/** Records for calls that outlive their request: numbered parts of JSON, each with an expiry. Writes are durable. */
export interface Records {
  /** Adds a part. Returns false if the part exists: the first of several writers wins. */
  add(id: string, part: number, content: object, ttlMs: number): Promise<boolean>;
  put(id: string, part: number, content: object, ttlMs: number): Promise<void>;
  read<Content>(id: string, part: number): Promise<Content | undefined>;
  list(ids?: readonly string[]): Promise<ListedPart[]>;
  /** Extends the lifetime of all parts. */
  touch(id: string, ttlMs: number): Promise<void>;
  remove(id: string, parts?: readonly number[]): Promise<void>;
}

/** Stores records in a database, for processes that share nothing else. */
export function createSharedRecords(kind: string, shared: SharedStore): Records {
  return {
    add: (id, part, content, ttlMs) => shared.add({ kind, id, part }, json(content), ttlMs),
    put: (id, part, content, ttlMs) => shared.put({ kind, id, part }, json(content), ttlMs),
    async read<Content>(id: string, part: number) {
      const bytes = await shared.read({ kind, id, part });
      return bytes && (JSON.parse(bytes.toString()) as Content);
    },
    list: (ids) => shared.list({ kind, ...(ids === undefined ? {} : { ids }) }),
    touch: (id, ttlMs) => shared.touch({ kind, id }, ttlMs),
    remove: (id, parts) => shared.remove({ kind, id }, parts),
  };
}

/** Grace period after the expiry, because a new file gets its expiry a moment after it is created. */
const graceMs = 60_000;
/** Age at which other files are removed, such as those that a killed process left. */
const leftoverMs = 24 * 3_600_000;

/** Stores each part in a file, with its name from `names` as the extension. The modification time is the expiry. */
export function createFileRecords(folder: string, names: readonly string[], now: () => number): Records {
  const fileOf = (id: string, part: number): string => join(folder, `${id}.${names[part]}`);
  const expire = (file: string, ttlMs: number): Promise<void> => {
    const time = new Date(now() + ttlMs);
    return utimes(file, time, time);
  };
  return {
    async add(id, part, content, ttlMs) {
      makeFolder(folder);
      const file = fileOf(id, part);
      try {
        await writeNewFile(file, json(content));
      } catch (error) {
        if (systemCode(error) === 'EEXIST') return false;
        throw error;
      }
      await expire(file, ttlMs);
      await syncFolder(folder);
      return true;
    },
    async put(id, part, content, ttlMs) {
      await replaceFile(fileOf(id, part), json(content));
      await expire(fileOf(id, part), ttlMs);
    },
    async read<Content>(id: string, part: number) {
      try {
        return JSON.parse(await readFile(fileOf(id, part), 'utf8')) as Content;
      } catch (error) {
        // A power failure may leave half a file, which counts as missing.
        if (error instanceof SyntaxError || systemCode(error) === 'ENOENT') return undefined;
        throw error;
      }
    },
    async list(ids) {
      makeFolder(folder);
      const parts: ListedPart[] = [];
      for (const name of await readdir(folder)) {
        const [id = '', ending = ''] = name.split('.');
        const part = names.indexOf(ending);
        const { mtimeMs, size } = await stat(join(folder, name)).catch(() => ({ mtimeMs: 0, size: 0 }));
        const isExpired = now() - mtimeMs > (part === -1 ? leftoverMs : graceMs);
        if (isExpired) await rm(join(folder, name), { force: true });
        else if (part !== -1 && (ids?.includes(id) ?? true)) parts.push({ id, part, bytes: size });
      }
      return parts;
    },
    async touch(id, ttlMs) {
      await Promise.all(names.map((_, part) => expire(fileOf(id, part), ttlMs).catch(() => {})));
    },
    async remove(id, parts = names.map((_, part) => part)) {
      await Promise.all(parts.map((part) => rm(fileOf(id, part), { force: true })));
    },
  };
}

function json(content: object): Buffer {
  return Buffer.from(JSON.stringify(content));
}

/** Delay before an unimportant change is written. */
const soonMs = 500;

export type StateWriter = ReturnType<typeof createStateWriter>;

/** Writes the state of running work for other processes: after changes, and every `renewMs` as a sign of life. */
export function createStateWriter(write: () => Promise<void>, renewMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let isScheduled = false;
  let written: Promise<void> = Promise.resolve();
  const writeNow = (): Promise<void> => {
    clearTimeout(timer);
    isScheduled = false;
    timer = setTimeout(writeNow, renewMs).unref();
    written = written.then(write).catch(() => {});
    return written;
  };
  return {
    /** Resolves even if writing fails, because the next write includes the change. */
    writeNow,
    writeSoon(): void {
      if (isScheduled) return;
      isScheduled = true;
      clearTimeout(timer);
      timer = setTimeout(writeNow, soonMs).unref();
    },
    /** Stops writing. Resolves when the last write is done. */
    stop(): Promise<void> {
      clearTimeout(timer);
      return written;
    },
  };
}
