import { CarrelError } from '../../../base/errors.ts';
import type { Engine, SubmitOutcome } from '../../../engine/engine.ts';
import type { Call } from '../../../tools/call.ts';
import { openLocalFile } from './local-file.ts';

export interface PathRules {
  /** True if callers are on this machine, so that their paths are valid here. */
  isLocal: boolean;
  /** Folders that the operator allows, besides the client's roots. */
  allowedRoots: readonly string[];
  bytesMax: number;
}

interface FileToSubmit {
  path: string;
  filename?: string | undefined;
  title?: string | undefined;
  tags: readonly string[];
  doc_type?: string | undefined;
  source_path?: string | undefined;
}

/** Submits a local file from an allowed folder. */
export async function submitPath(
  engine: Pick<Engine, 'submit'>,
  { isLocal, allowedRoots, bytesMax }: PathRules,
  { path, filename, source_path = path, ...filing }: FileToSubmit,
  call: Call,
): Promise<SubmitOutcome> {
  if (!isLocal) {
    throw new CarrelError(
      'path_not_allowed',
      'A path works only on stdio, where client and server share a machine. Upload the file with kb_upload_start.',
    );
  }
  const folders = { configured: allowedRoots, client: (await call.roots?.()) ?? [] };
  const { filename: ownName, size, content, close } = await openLocalFile(path, folders);
  try {
    if (size > bytesMax) {
      throw new CarrelError('upload_too_large', `The file has ${size} bytes; the limit is ${bytesMax}.`);
    }
    return await engine.submit({ filename: filename ?? ownName, content, size, source_path, ...filing }, call);
  } finally {
    await close();
  }
}
