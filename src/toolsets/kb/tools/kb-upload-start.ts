import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { Engine } from '../../../engine/engine.ts';
import { readDocType } from '../../../engine/given.ts';
import type { Call } from '../../../tools/call.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { storedText } from '../../../tools/stored-text.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { tagsToStore } from '../collections.ts';
import { describeOutcome, docTypeInput, filingInput } from '../kb-parts.ts';
import { createLastingIngestion } from '../lasting-ingestion.ts';
import { outcomeFields } from '../shapes.ts';
import type { Uploads } from '../uploads/create-uploads.ts';
import { fileNameInput } from '../uploads/file-name.ts';
import { openLocalFile } from '../uploads/local-file.ts';
import { uploadPath } from '../uploads/upload-route.ts';

export interface UploadStartConfig {
  /** Folders of this machine whose files may be read; none if the caller is on another machine. */
  allowedRoots: readonly string[];
  /** The server's address from outside, if it differs from the one it listens on. */
  publicUrl: string | undefined;
  bytesMax: number;
  chunkBytesMax: number;
  idleMs: number;
  /** The collections of callers who may not use all. */
  collections?: readonly string[] | undefined;
}

const sizes = {
  filename: fileNameInput.describe('A name, not a path.'),
  total_size: z.int().min(1).describe('Bytes.'),
};
const more = { ...filingInput, doc_type: docTypeInput.optional() };

export function createKbUploadStartTool(
  config: UploadStartConfig,
  deps: { uploads: Pick<Uploads, 'start'>; engine: Pick<Engine, 'submit' | 'documentAlone' | 'job' | 'cancelJob'> },
): Tool {
  return config.allowedRoots.length === 0 ? startTool(config, deps) : startOrReadTool(config, deps);
}

const facts = {
  name: 'kb_upload_start',
  title: 'Start an upload',
  effect: 'add',
} as const;

type Deps = Parameters<typeof createKbUploadStartTool>[1];

function startTool(config: UploadStartConfig, { uploads }: Deps): Tool {
  return defineTool({
    ...facts,
    description:
      'Starts the upload of a file and returns its upload_id: send it with kb_upload_chunk, or PUT the bytes to upload_url if that is given, then call kb_upload_finish.',
    input: z.object({ ...sizes, ...more }),
    output: freeAnswer(startedFields),
    run: (input, call) => start(config, uploads, input, call),
  });
}

/** On the caller's own machine a path can be given instead, and the file is uploaded at once. */
function startOrReadTool(config: UploadStartConfig, { uploads, engine }: Deps): Tool {
  return defineTool({
    ...facts,
    description:
      'Uploads a file: give its path to upload it at once (returns job_id), or filename and total_size to send it with kb_upload_chunk and kb_upload_finish (returns upload_id).',
    input: z.object({
      path: storedText(z.string().min(1).max(4096)).optional().describe('Absolute, on this machine.'),
      filename: sizes.filename.optional(),
      total_size: sizes.total_size.optional(),
      ...more,
    }),
    output: freeAnswer(`${startedFields}; with path ${outcomeFields}`),
    lasting: createLastingIngestion(engine),
    async run({ path, filename, total_size, ...filing }, call) {
      if (path === undefined) {
        if (filename === undefined || total_size === undefined) {
          throw new CarrelError('invalid_arguments', 'Give path, or filename and total_size.');
        }
        return start(config, uploads, { filename, total_size, ...filing }, call);
      }
      const tags = tagsToStore(filing, config.collections);
      const file = await openLocalFile(path, config.allowedRoots);
      try {
        const { size, content } = file;
        if (size > config.bytesMax) {
          throw new CarrelError('upload_too_large', `The file has ${size} bytes; the limit is ${config.bytesMax}.`);
        }
        const { title, doc_type, source_path = path } = filing;
        const outcome = await engine.submit(
          { filename: filename ?? file.filename, content, size, title, tags, doc_type, source_path },
          call,
        );
        return describeOutcome(engine, outcome, tags, call);
      } finally {
        await file.close();
      }
    },
  });
}

const startedFields = 'upload_id, upload_url?, chunk_bytes_max, expires_after_idle_seconds';

type Starting = z.output<z.ZodObject<typeof sizes & typeof more>>;

async function start(
  config: UploadStartConfig,
  uploads: Pick<Uploads, 'start'>,
  { filename, total_size, title, doc_type, source_path, ...given }: Starting,
  { caller }: Call,
) {
  const tags = tagsToStore(given, config.collections);
  const docType = readDocType(doc_type);
  const upload = { filename, totalSize: total_size, tags, title, docType, sourcePath: source_path };
  const { id, secret } = await uploads.start(upload, caller.id);
  const origin = (caller.reachedAt === undefined ? undefined : config.publicUrl) ?? caller.reachedAt;
  return {
    upload_id: id,
    ...(origin === undefined ? {} : { upload_url: `${origin.replace(/\/+$/, '')}${uploadPath}${id}/${secret}` }),
    chunk_bytes_max: config.chunkBytesMax,
    expires_after_idle_seconds: config.idleMs / 1000,
  };
}
