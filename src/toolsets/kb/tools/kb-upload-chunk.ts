import * as z from 'zod';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { Uploads } from '../uploads/create-uploads.ts';
import { decodeBase64 } from '../uploads/strict-base64.ts';

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
    output: freeAnswer('upload_id, chunk_index, received_bytes, total_size, chunks'),
    async run({ upload_id, data, chunk_index }, call) {
      const bytes = decodeBase64(data, 'data');
      const { receivedBytes, totalSize, chunks } = await uploads.addChunk(upload_id, chunk_index, bytes, call);
      return { upload_id, chunk_index, received_bytes: receivedBytes, total_size: totalSize, chunks };
    },
  });
}
