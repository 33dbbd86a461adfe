import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { readDocType } from '../../../engine/contract/validate-input.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Call } from '../../../tools/call.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import type { SecretRoute } from '../../../tools/toolset.ts';
import { tagsToStore } from '../inputs/collections.ts';
import { docTypeInput, newDocumentInput, pathInput } from '../inputs/document-inputs.ts';
import { createIngestionWork, describeOutcome, outcomeFields } from '../shapes/submission.ts';
import type { Uploads } from '../uploads/create-uploads.ts';
import { type PathRules, submitPath } from '../uploads/local-file.ts';

interface UploadStartConfig {
  /** The server's URL as clients reach it, if it differs from its listening address. */
  publicUrl: string | undefined;
  chunkBytesMax: number;
  idleMs: number;
  /** The collections of a restricted caller. */
  collections?: readonly string[] | undefined;
}

const documentInput = { ...newDocumentInput, doc_type: docTypeInput.optional() };

export function createKbUploadStartTool(
  config: UploadStartConfig & { paths: PathRules },
  {
    uploads,
    engine,
  }: {
    uploads: Pick<Uploads, 'start'>;
    engine: Pick<Engine, 'submit' | 'documentWithoutChunks' | 'job' | 'cancelJob'>;
  },
): Tool {
  return defineTool({
    name: 'kb_upload_start',
    title: 'Start an upload',
    effect: 'add',
    description:
      'Uploads a file. Give its path to submit it directly (returns job_id). Or give filename and total_size, send the bytes with kb_upload_chunk or by PUT to upload_url if present, then call kb_upload_finish.',
    input: z.object({
      path: pathInput.optional(),
      filename: fileNameInput.optional().describe('A name, not a path.'),
      total_size: z.int().min(1).optional().describe('Bytes.'),
      ...documentInput,
    }),
    output: looseOutput(`${startedFields}; with path ${outcomeFields}`),
    backgroundWork: createIngestionWork(engine),
    async run({ path, filename, total_size, ...attributes }, call) {
      if (path === undefined) {
        if (filename === undefined || total_size === undefined) {
          const missing = filename === undefined ? 'filename' : 'total_size';
          throw new CarrelError('invalid_arguments', `${missing} is missing: give filename and total_size, or path.`);
        }
        return startUpload(config, uploads, { filename, total_size, ...attributes }, call);
      }
      const { title, doc_type, source_path, ...tagArguments } = attributes;
      const tags = tagsToStore(tagArguments, config.collections);
      const file = { path, filename, title, tags, doc_type, source_path };
      return describeOutcome(engine, await submitPath(engine, config.paths, file, call), tags, call);
    },
  });
}

const startedFields = 'upload_id, upload_url?, chunk_bytes_max, expires_after_idle_seconds';

type UploadArguments = z.output<z.ZodObject<typeof documentInput>> & { filename: string; total_size: number };

async function startUpload(
  config: UploadStartConfig,
  uploads: Pick<Uploads, 'start'>,
  { filename, total_size, title, doc_type, source_path, ...tagArguments }: UploadArguments,
  { caller }: Call,
) {
  const tags = tagsToStore(tagArguments, config.collections);
  const docType = readDocType(doc_type);
  const upload = { filename, totalSize: total_size, tags, title, docType, sourcePath: source_path };
  const { id, secret } = await uploads.start(upload, caller.id);
  const origin = (caller.serverOrigin === undefined ? undefined : config.publicUrl) ?? caller.serverOrigin;
  return {
    upload_id: id,
    ...(origin === undefined ? {} : { upload_url: `${origin.replace(/\/+$/, '')}${uploadPath}${id}/${secret}` }),
    chunk_bytes_max: config.chunkBytesMax,
    expires_after_idle_seconds: config.idleMs / 1000,
  };
}

const chunksMax = 10_000;

export function createKbUploadChunkTool(uploads: Pick<Uploads, 'addChunk'>): Tool {
  return defineTool({
    name: 'kb_upload_chunk',
    title: 'Upload a chunk',
    description: 'Adds a chunk of the file, in any order. Resending the same chunk is harmless.',
    effect: 'add',
    idempotent: true,
    input: z.object({
      upload_id: z.string(),
      data: z.string().describe('Base64.'),
      chunk_index: z
        .int()
        .min(0)
        .max(chunksMax - 1)
        .describe('From 0.'),
    }),
    output: looseOutput('upload_id, chunk_index, received_bytes, total_size, chunks'),
    async run({ upload_id, data, chunk_index }, call) {
      const bytes = decodeBase64(data, 'data');
      const { receivedBytes, totalSize, chunks } = await uploads.addChunk(upload_id, chunk_index, bytes, call);
      return { upload_id, chunk_index, received_bytes: receivedBytes, total_size: totalSize, chunks };
    },
  });
}

export function createKbUploadFinishTool(deps: {
  uploads: Pick<Uploads, 'finish'>;
  engine: Pick<Engine, 'documentWithoutChunks' | 'submit' | 'job' | 'cancelJob'>;
}): Tool {
  return defineTool({
    name: 'kb_upload_finish',
    title: 'Finish an upload',
    description: 'Submits the complete file and returns the job_id of its ingestion. If this fails, call it again.',
    effect: 'add',
    idempotent: true,
    input: z.object({ upload_id: z.string() }),
    output: looseOutput(`upload_id, ${outcomeFields}`),
    backgroundWork: createIngestionWork(deps.engine),
    async run({ upload_id: id }, call) {
      const { outcome, tags } = await deps.uploads.finish(id, call, deps.engine);
      return { upload_id: id, ...(await describeOutcome(deps.engine, outcome, tags, call)) };
    },
  });
}

const fileNameBytesMax = 255;

/** Accepts a file name, not a path. */
export const fileNameInput = z
  .string()
  .trim()
  .refine((name) => name !== '' && Buffer.byteLength(name) <= fileNameBytesMax, {
    error: `must have 1 to ${fileNameBytesMax} bytes in UTF-8`,
  })
  .refine((name) => !/[/\\]/.test(name) && name !== '.' && name !== '..', { error: 'must be a name, not a path' })
  .refine((name) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u.test(name), {
    error: 'must not contain control characters',
  });

/** Decodes base64 strictly (RFC 4648 §4). Node skips invalid characters, so bytes could be lost silently. */
export function decodeBase64(text: string, argument: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > 0 && bytes.toString('base64') === text) return bytes;
  const problem =
    text === ''
      ? 'must not be empty'
      : 'must be base64 (A–Z a–z 0–9 + / and = at the end to a multiple of four characters, no line breaks)';
  throw new CarrelError('invalid_arguments', `${argument} ${problem}.`, {
    data: { details: { faults: [{ field: argument, problem }] } },
  });
}

const uploadPath = '/kb/uploads/';

/** Handles `PUT /kb/uploads/<upload_id>/<secret>` with the file's bytes. kb_upload_finish then completes the upload. */
export function createUploadRoute(uploads: Pick<Uploads, 'receive'>): SecretRoute {
  return {
    pathPrefix: uploadPath,
    method: 'PUT',
    async handle({ subpath, contentLength, body, signal }) {
      const [id = '', secret = ''] = subpath.split('/');
      const { receivedBytes } = await uploads.receive(id, secret, { content: body, length: contentLength }, signal);
      return { upload_id: id, received_bytes: receivedBytes };
    },
  };
}
