import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { CarrelError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { MonotonicClock } from '../../../base/sliding-window.ts';
import type { Engine, SubmitOutcome } from '../../../engine/engine.ts';
import type { Call } from '../../../tools/call.ts';
import type { Manifest, Staging } from './staging.ts';
import {
  checkQuotas,
  completeChunks,
  createUpload,
  isFinished,
  requireSize,
  tooManyBytes,
  type Upload,
  type UploadQuotas,
  uploadNotFound,
  withProgress,
} from './upload.ts';

export interface UploadsConfig extends UploadQuotas {
  /** Max bytes per upload. */
  bytesMax: number;
  idleMs: number;
  /** True if this process can continue uploads of an earlier process. */
  survivesRestart: boolean;
}

interface UploadsDeps {
  staging: Staging;
  log: Logger;
  clock?: MonotonicClock;
}

type NewUpload = Pick<Manifest, 'filename' | 'totalSize' | 'tags' | 'title' | 'docType' | 'sourcePath'>;

interface Receipt {
  receivedBytes: number;
  totalSize: number;
  chunks: number;
}

/** Collects the chunks of uploads, and submits complete files to the engine. */
export interface Uploads {
  /** `secret` is the last part of the upload_url. */
  start(request: NewUpload, callerId: string): Promise<{ id: string; secret: string }>;
  addChunk(id: string, index: number, bytes: Uint8Array, call: Call): Promise<Receipt>;
  /** Receives the whole file in one request, from a client that knows the secret. Works only once. */
  receive(id: string, secret: string, body: Body, signal: AbortSignal): Promise<Receipt>;
  /** Submits the file to the engine. Repeated calls return the same outcome. */
  finish(
    id: string,
    call: Call,
    engine: Pick<Engine, 'submit'>,
  ): Promise<{ outcome: SubmitOutcome; tags: readonly string[]; filename: string }>;
  close(): Promise<void>;
}

interface Body {
  content: AsyncIterable<Uint8Array>;
  /** The request's Content-Length, if it has one. */
  length: number | undefined;
}

/** Max finished uploads whose outcome is remembered, for repeated calls of `finish`. */
const finishedMax = 1000;
const sweepMsMax = 30_000;

export function createUploads(config: UploadsConfig, deps: UploadsDeps): Uploads {
  const { staging, log, clock = () => performance.now() } = deps;
  const uploads = new Map<string, Upload>();
  const notFound = (): CarrelError => uploadNotFound(config.idleMs);
  const isExpired = ({ users, usedAt }: Upload): boolean => users === 0 && clock() - usedAt >= config.idleMs;

  const removeUpload = async (id: string): Promise<void> => {
    uploads.delete(id);
    await staging.remove(id);
  };

  const find = async (id: string): Promise<Upload> => {
    const current = uploads.get(id);
    if (current !== undefined) {
      // For a shared upload, the database decides whether it has expired; `refresh` checks that.
      if (staging.shared !== undefined || !isExpired(current)) return current;
      await removeUpload(id);
      throw notFound();
    }
    const stored = config.survivesRestart ? await staging.find(id) : undefined;
    const idleMs = stored && (await idleMsOf(id));
    if (stored === undefined || idleMs === undefined || idleMs >= config.idleMs) throw notFound();
    const upload = uploads.get(id) ?? createUpload(stored.manifest, stored.chunks, clock() - idleMs);
    uploads.set(id, upload);
    return upload;
  };

  const idleMsOf = async (id: string): Promise<number | undefined> =>
    staging.shared ? 0 : (await staging.idleTimes()).find((each) => each.id === id)?.idleMs;

  /** Reloads the state of a shared upload, which another process may have changed. */
  const refresh = async (upload: Upload): Promise<void> => {
    if (staging.shared === undefined) return;
    const { id } = upload.manifest;
    const found = await staging.find(id);
    if (found === undefined) {
      uploads.delete(id);
      throw notFound();
    }
    const { manifest, chunks, receivedBytes } = createUpload(found.manifest, found.chunks, clock());
    Object.assign(upload, { manifest, chunks, receivedBytes });
  };

  /** Returns unfinished uploads of other processes, which count towards the quotas too. */
  const unfinishedElsewhere = async (): Promise<Upload[]> => {
    if (!config.survivesRestart) return [];
    if (staging.shared !== undefined) {
      return (await staging.shared.manifests()).map((manifest) => createUpload(manifest, new Map(), clock()));
    }
    const stored = (await staging.idleTimes()).filter(({ id, idleMs }) => !uploads.has(id) && idleMs < config.idleMs);
    const found = await Promise.all(stored.map(({ id }) => staging.find(id)));
    return found.flatMap((each) => (each === undefined ? [] : [createUpload(each.manifest, each.chunks, clock())]));
  };

  /** Returns the uploads that this process is using, including those not saved yet. */
  const inUse = (): Upload[] => [...uploads.values()].filter(({ users }) => users > 0);

  /** Runs work on an upload. The upload can't expire meanwhile. */
  const whileInUse = async <Result>(upload: Upload, run: () => Promise<Result>): Promise<Result> => {
    upload.users += 1;
    try {
      return await run();
    } finally {
      upload.users -= 1;
      upload.usedAt = clock();
    }
  };

  /** Runs changes to an upload one at a time, within this process. */
  const serialized = <Result>(upload: Upload, signal: AbortSignal, run: () => Promise<Result>): Promise<Result> =>
    whileInUse(upload, async () => {
      const release = await upload.lock.acquire(signal);
      try {
        await refresh(upload);
        return await run();
      } finally {
        release();
      }
    });

  /** Accepts a chunk that was already received if its bytes are the same. Throws otherwise. */
  const acceptRepeated = async (upload: Upload, index: number, bytes: Uint8Array): Promise<Receipt> => {
    const { id } = upload.manifest;
    if (bytes.length === upload.chunks.get(index) && (await staging.readChunk(id, index)).equals(bytes)) {
      return receiptOf(upload);
    }
    throw conflict(`Chunk ${index} was already received with other bytes. Resend the original, or start a new upload.`);
  };

  /** Runs work on an upload while no other process does. */
  const exclusively = <Result>(upload: Upload, signal: AbortSignal, run: () => Promise<Result>): Promise<Result> =>
    staging.shared === undefined
      ? run()
      : staging.shared.exclusively(upload.manifest.id, signal, async () => {
          await refresh(upload);
          return run();
        });

  const sweep = async (): Promise<void> => {
    if (staging.shared !== undefined) {
      // The database removes expired uploads. Here, only the copies in memory are removed.
      for (const [id, upload] of uploads) if (isExpired(upload)) uploads.delete(id);
      return;
    }
    for (const [id, upload] of uploads) if (isExpired(upload)) await removeUpload(id);
    const finished = [...uploads].filter(([, upload]) => isFinished(upload) && upload.users === 0);
    for (const [id] of finished.slice(0, Math.max(0, finished.length - finishedMax))) await removeUpload(id);
    // Removes uploads of ended processes. Waits twice as long, because running processes remove their own.
    for (const { id, idleMs } of await staging.idleTimes()) {
      if (!uploads.has(id) && idleMs >= config.idleMs * 2) await staging.remove(id);
    }
  };
  const sweepTimer = setInterval(
    () => void sweep().catch((error: unknown) => log.warn('idle uploads could not be removed', { error })),
    Math.min(sweepMsMax, Math.max(200, config.idleMs / 4)),
  ).unref();

  return {
    async start(request, callerId) {
      const { totalSize } = request;
      if (totalSize > config.bytesMax) {
        throw new CarrelError('upload_too_large', `total_size must be at most ${config.bytesMax} bytes.`, {
          data: { total_size: totalSize, bytes_max: config.bytesMax },
        });
      }
      const storedElsewhere = await unfinishedElsewhere();
      // No `await` from here until the upload is registered, so that no other call uses the same quota.
      const local = staging.shared === undefined ? [...uploads.values()] : inUse();
      const localIds = new Set(local.map(({ manifest }) => manifest.id));
      const open = [...local, ...storedElsewhere.filter(({ manifest }) => !localIds.has(manifest.id))].filter(
        (upload) => !isFinished(upload) && !isExpired(upload),
      );
      checkQuotas(config, open, { totalSize, callerId });
      const secret = randomBytes(32).toString('base64url');
      const manifest = { ...request, id: randomUUID(), caller: callerId, secretHash: hashOf(secret).toString('hex') };
      const upload = createUpload(manifest, new Map(), clock());
      uploads.set(manifest.id, upload);
      try {
        await whileInUse(upload, () => staging.save(manifest));
      } catch (error) {
        await removeUpload(manifest.id);
        throw error;
      }
      return { id: manifest.id, secret };
    },

    async addChunk(id, index, bytes, { caller, signal }) {
      const upload = await find(id);
      if (upload.manifest.caller !== caller.id) throw notFound();
      return serialized(upload, signal, async () => {
        checkOpen(upload);
        if (upload.chunks.has(index)) return acceptRepeated(upload, index, bytes);
        const { totalSize } = upload.manifest;
        if (upload.receivedBytes + bytes.length > totalSize)
          throw tooManyBytes(upload.receivedBytes + bytes.length, totalSize);
        if ((await staging.writeChunk(id, index, bytes)) === undefined) {
          // Another process has stored this chunk meanwhile.
          await refresh(upload);
          return acceptRepeated(upload, index, bytes);
        }
        upload.receivedBytes += bytes.length;
        upload.chunks.set(index, bytes.length);
        return receiptOf(upload);
      });
    },

    async receive(id, secret, { content, length }, signal) {
      const upload = await find(id);
      if (!timingSafeEqual(hashOf(secret), Buffer.from(upload.manifest.secretHash, 'hex'))) throw notFound();
      const { totalSize } = upload.manifest;
      if (length !== undefined && length > totalSize) throw tooManyBytes(length, totalSize);
      await serialized(upload, signal, async () => {
        checkOpen(upload);
        if (upload.chunks.size > 0) throw alreadyReceived();
        upload.isReceiving = true;
      });
      try {
        const size = await whileInUse(upload, () => staging.writeChunk(id, 0, requireSize(content, totalSize)));
        if (size === undefined) throw alreadyReceived();
        upload.chunks.set(0, size);
        upload.receivedBytes = size;
        return receiptOf(upload);
      } finally {
        upload.isReceiving = false;
      }
    },

    async finish(id, call, engine) {
      const upload = await find(id);
      if (upload.manifest.caller !== call.caller.id) throw notFound();
      const submit = async () => {
        const { manifest } = upload;
        const { filename, tags } = manifest;
        if (manifest.outcome !== undefined) return { outcome: manifest.outcome, tags, filename };
        checkOpen(upload);
        const indexes = completeChunks(upload);
        await staging.touch(id);
        const { title, docType, sourcePath, totalSize: size } = manifest;
        const content = withProgress(staging.content(id, indexes), size, call);
        const outcome = await engine.submit(
          { filename, content, size, title, tags, doc_type: docType, source_path: sourcePath },
          { signal: call.signal },
        );
        manifest.outcome = outcome;
        // The engine already has the file, so an error here must not fail the call.
        await staging
          .save(manifest)
          .then(() => staging.dropChunks(id, indexes))
          .catch((error: unknown) => log.warn('could not remove a finished upload', { error }));
        return { outcome, tags, filename };
      };
      return serialized(upload, call.signal, () => exclusively(upload, call.signal, submit));
    },

    async close() {
      clearInterval(sweepTimer);
    },
  };
}

function checkOpen({ isReceiving, manifest: { outcome } }: Upload): void {
  if (isReceiving) throw conflict('Bytes are still arriving at upload_url. Wait until the transfer ends.');
  if (outcome !== undefined) throw conflict('This upload is finished. Start another with kb_upload_start.');
}

function alreadyReceived(): CarrelError {
  return conflict('This upload already has bytes, and upload_url works only once. Start another with kb_upload_start.');
}

function receiptOf({ receivedBytes, chunks, manifest: { totalSize } }: Upload): Receipt {
  return { receivedBytes, totalSize, chunks: chunks.size };
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function conflict(message: string): CarrelError {
  return new CarrelError('upload_conflict', message);
}
