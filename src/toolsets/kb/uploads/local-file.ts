import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, sep } from 'node:path';
import { CarrelError } from '../../../base/errors.ts';
import type { Engine, SubmitOutcome } from '../../../engine/engine.ts';
import type { Call } from '../../../tools/call.ts';

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
  { path, filename, source_path = path, ...attributes }: FileToSubmit,
  call: Call,
): Promise<SubmitOutcome> {
  if (!isLocal) {
    throw new CarrelError(
      'path_not_allowed',
      'A path works only on stdio, where client and server share a machine. Upload the file with kb_upload_start.',
    );
  }
  const folders = { configured: allowedRoots, client: (await call.roots?.()) ?? [] };
  const { filename: nameOnDisk, size, content, close } = await openLocalFile(path, folders);
  try {
    if (size > bytesMax) {
      throw new CarrelError(
        'upload_too_large',
        `The file has ${size} bytes; the limit is ${bytesMax} (KB_UPLOAD_BYTES_MAX).`,
      );
    }
    return await engine.submit({ filename: filename ?? nameOnDisk, content, size, source_path, ...attributes }, call);
  } finally {
    await close();
  }
}

interface LocalFile {
  filename: string;
  size: number;
  content: AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Folders whose files may be read by path. */
interface AllowedFolders {
  /** Set by the operator. */
  readonly configured: readonly string[];
  /** Set by the client. Only files that belong to this process's user are read there. */
  readonly client: readonly string[];
}

/**
 * Opens a regular file in an allowed folder. The target of a link must be in an allowed folder too. Checks the path again
 * after opening, to detect a link that was created meanwhile.
 */
export async function openLocalFile(path: string, folders: AllowedFolders): Promise<LocalFile> {
  if (!isAbsolute(path) || path.includes('\0')) throw notAllowed('path must be absolute.');
  const { real } = await resolveInside(path, folders);
  // O_NONBLOCK, because opening a named pipe would otherwise block until something is written to it.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(real, flags).catch((error: unknown) => {
    throw notAllowed('The file cannot be read. Check its permissions.', error);
  });
  try {
    const opened = await file.stat();
    const rechecked = await resolveInside(path, folders);
    const { ino, dev } = await stat(rechecked.real);
    if (opened.ino !== ino || opened.dev !== dev)
      throw notAllowed('The file changed while it was being opened. Try again.');
    if (!opened.isFile()) throw notAllowed('Only regular files can be added.');
    if (!rechecked.isConfigured && opened.uid !== (process.getuid?.() ?? opened.uid)) {
      throw notAllowed(`The file belongs to another user. ${allowHint}`);
    }
    return {
      filename: basename(real),
      size: opened.size,
      content: readExactly(file, opened.size),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

const allowHint = 'Set KB_ALLOWED_ROOTS to the folders whose files may be added.';

async function resolveInside(
  path: string,
  { configured, client }: AllowedFolders,
): Promise<{ real: string; isConfigured: boolean }> {
  const folders = [...configured, ...client];
  // Missing and forbidden files get the same message, so that it reveals nothing about other folders.
  const notFound = (cause?: unknown): CarrelError =>
    folders.length === 0
      ? notAllowed(
          `Files can't be added by path, because no folder is allowed. ${allowHint} Or upload the file: call kb_upload_start without path.`,
          cause,
        )
      : notAllowed(`There is no such file in the allowed folders: ${folders.join(', ')}. ${allowHint}`, cause);
  const real = await realpath(path).catch((error: unknown) => {
    throw notFound(error);
  });
  const isInside = async (folder: string): Promise<boolean> => {
    const root = await realpath(folder).catch(() => undefined);
    return root !== undefined && real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
  };
  for (const folder of configured) if (await isInside(folder)) return { real, isConfigured: true };
  for (const folder of client) if (await isInside(folder)) return { real, isConfigured: false };
  throw notFound();
}

async function* readExactly(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const part of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    read += part.length;
    if (read > size) break;
    yield part;
  }
  if (read !== size) {
    throw new CarrelError(
      'upload_conflict',
      'The file changed while it was being read. Try again when it is no longer being written.',
    );
  }
}

function notAllowed(message: string, cause?: unknown): CarrelError {
  return new CarrelError('path_not_allowed', message, { cause });
}
