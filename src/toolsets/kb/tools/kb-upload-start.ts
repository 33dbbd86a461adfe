import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { readDocType } from '../../../engine/contract/validate-input.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Call } from '../../../tools/call.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { createLastingIngestion } from '../actions/lasting-ingestion.ts';
import { tagsToStore } from '../inputs/collections.ts';
import { describeOutcome, docTypeInput, filingInput, pathInput } from '../kb-parts.ts';
import { outcomeFields } from '../shapes/shapes.ts';
import type { Uploads } from '../uploads/create-uploads.ts';
import { fileNameInput } from '../uploads/file-name.ts';
import { type PathRules, submitPath } from '../uploads/submit-path.ts';
import { uploadPath } from '../uploads/upload-route.ts';

export interface UploadStartConfig {
  /** The server's URL as clients reach it, if it differs from its listening address. */
  publicUrl: string | undefined;
  chunkBytesMax: number;
  idleMs: number;
  /** The collections of a restricted caller. */
  collections?: readonly string[] | undefined;
}

const more = { ...filingInput, doc_type: docTypeInput.optional() };

export function createKbUploadStartTool(
  config: UploadStartConfig & { paths: PathRules },
  {
    uploads,
    engine,
  }: { uploads: Pick<Uploads, 'start'>; engine: Pick<Engine, 'submit' | 'documentAlone' | 'job' | 'cancelJob'> },
): Tool {
  return defineTool({
    name: 'kb_upload_start',
    title: 'Start an upload',
    effect: 'add',
    description:
      'Uploads a file: give its path to upload it at once (returns job_id). Otherwise give filename and total_size, send the bytes with kb_upload_chunk, or by PUT to upload_url if present, and call kb_upload_finish.',
    input: z.object({
      path: pathInput.optional(),
      filename: fileNameInput.optional().describe('A name, not a path.'),
      total_size: z.int().min(1).optional().describe('Bytes.'),
      ...more,
    }),
    output: freeAnswer(`${startedFields}; with path ${outcomeFields}`),
    lasting: createLastingIngestion(engine),
    async run({ path, filename, total_size, ...filing }, call) {
      if (path === undefined) {
        if (filename === undefined || total_size === undefined) {
          const missing = filename === undefined ? 'filename' : 'total_size';
          throw new CarrelError('invalid_arguments', `${missing} is missing: give filename and total_size, or path.`);
        }
        return start(config, uploads, { filename, total_size, ...filing }, call);
      }
      const { title, doc_type, source_path, ...tagArguments } = filing;
      const tags = tagsToStore(tagArguments, config.collections);
      const file = { path, filename, title, tags, doc_type, source_path };
      return describeOutcome(engine, await submitPath(engine, config.paths, file, call), tags, call);
    },
  });
}

const startedFields = 'upload_id, upload_url?, chunk_bytes_max, expires_after_idle_seconds';

type Starting = z.output<z.ZodObject<typeof more>> & { filename: string; total_size: number };

async function start(
  config: UploadStartConfig,
  uploads: Pick<Uploads, 'start'>,
  { filename, total_size, title, doc_type, source_path, ...tagArguments }: Starting,
  { caller }: Call,
) {
  const tags = tagsToStore(tagArguments, config.collections);
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
