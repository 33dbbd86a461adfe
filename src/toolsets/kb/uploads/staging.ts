import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { type Bytes, diskError, replaceFile, syncFolder } from '../../../base/durable-files.ts';
import { parseJson } from '../../../base/json.ts';
import { makeFolder } from '../../../base/make-folder.ts';
import type { SubmitOutcome } from '../../../engine/engine.ts';

const jobId = z.union([z.number(), z.string()]);

/** Everything about an upload except its bytes. */
const manifestSchema = z.object({
  id: z.string(),
  /** The caller who started the upload. No other caller may continue it. */
  caller: z.string(),
  filename: z.string(),
  totalSize: z.int(),
  tags: z.array(z.string()),
  title: z.string().optional(),
  docType: z.string().optional(),
  sourcePath: z.string().optional(),
  /** SHA-256 of the secret in upload_url. */
  secretHash: z.string(),
  /** The engine's answer. Present once the file was submitted; the bytes are removed then. */
  outcome: z
    .union([
      z.object({ accepted: z.literal(true), job_id: jobId, status: z.string(), filename: z.string() }),
      z.object({
        accepted: z.literal(false),
        document_id: z.number().exactOptional(),
        job_id: jobId.exactOptional(),
        title: z.string().nullable(),
      }),
    ])
    .optional(),
});

export type Manifest = Omit<z.output<typeof manifestSchema>, 'outcome'> & { outcome?: SubmitOutcome | undefined };

interface StoredUpload {
  manifest: Manifest;
  /** Sizes in bytes, by chunk_index. */
  chunks: Map<number, number>;
}

/** Storage of unfinished uploads. */
export interface Staging {
  /** Writes the manifest, which creates the upload. */
  save(manifest: Manifest): Promise<void>;
  /** Stores a chunk and returns its size. Undefined if another process has already stored it. */
  writeChunk(id: string, index: number, content: Bytes): Promise<number | undefined>;
  readChunk(id: string, index: number): Promise<Buffer>;
  content(id: string, indexes: readonly number[]): AsyncIterable<Uint8Array>;
  dropChunks(id: string, indexes: readonly number[]): Promise<void>;
  /** Tells other processes that the upload is in use. */
  touch(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Finds an upload left by an earlier process. */
  find(id: string): Promise<StoredUpload | undefined>;
  /** Lists uploads with their idle times by the wall clock, the only clock that processes share. */
  idleTimes(): Promise<{ id: string; idleMs: number }[]>;
  /** Present if several processes may work on the same upload. */
  readonly shared?: SharedUploads;
}

interface SharedUploads {
  /** Manifests of all unexpired uploads. */
  manifests(): Promise<Manifest[]>;
  /** Runs work on an upload while no other process does. */
  exclusively<Result>(id: string, signal: AbortSignal, run: () => Promise<Result>): Promise<Result>;
}

const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const manifestName = 'manifest.json';

/** Stores uploads on disk: one folder per upload, with a manifest and a file per chunk. */
export function createStaging(folder: string): Staging {
  const folderOf = (id: string): string => join(folder, id);
  const chunkFile = (id: string, index: number): string => join(folder, id, `${index}.chunk`);

  return {
    async save(manifest) {
      const uploadFolder = folderOf(manifest.id);
      await explainDiskErrors(async () => {
        makeFolder(folder);
        const created = await mkdir(uploadFolder, { recursive: true, mode: 0o700 });
        if (created !== undefined) await syncFolder(folder);
        await replaceFile(join(uploadFolder, manifestName), Buffer.from(JSON.stringify(manifest)));
      });
    },
    writeChunk: (id, index, content) => explainDiskErrors(() => replaceFile(chunkFile(id, index), content)),
    readChunk: (id, index) => readFile(chunkFile(id, index)),
    async *content(id, indexes) {
      for (const index of indexes) yield* createReadStream(chunkFile(id, index)) as AsyncIterable<Buffer>;
    },
    async dropChunks(id, indexes) {
      for (const index of indexes) await rm(chunkFile(id, index), { force: true });
    },
    async touch(id) {
      const now = new Date();
      await utimes(folderOf(id), now, now);
    },
    remove: (id) => rm(folderOf(id), { recursive: true, force: true }),
    async find(id) {
      if (!idPattern.test(id)) return undefined;
      const text = await readFile(join(folderOf(id), manifestName), 'utf8').catch(() => undefined);
      const manifest = readManifest(text);
      return manifest && { manifest, chunks: await chunkSizes(folderOf(id)) };
    },
    async idleTimes() {
      const names = await readdir(folder).catch(() => []);
      const uploads = names.filter((name) => idPattern.test(name));
      return Promise.all(
        uploads.map(async (id) => ({ id, idleMs: Math.max(0, Date.now() - (await lastWrite(folderOf(id)))) })),
      );
    },
  };
}

export function readManifest(text: string | undefined): Manifest | undefined {
  return manifestSchema.safeParse(text === undefined ? undefined : parseJson(text)).data;
}

async function explainDiskErrors<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw diskError(error);
  }
}

async function chunkSizes(folder: string): Promise<Map<number, number>> {
  const sizes = new Map<number, number>();
  for (const name of await readdir(folder)) {
    const index = /^(\d{1,6})\.chunk$/.exec(name)?.[1];
    if (index !== undefined) sizes.set(Number(index), (await stat(join(folder, name))).size);
  }
  return sizes;
}

/** Returns the time of the last change to the folder, or to a chunk that is being written. */
async function lastWrite(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const partFiles = names.filter((name) => name.endsWith('.part')).map((name) => join(folder, name));
  const times = await Promise.all(
    [folder, ...partFiles].map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(...times);
}
