import { diskError } from '../base/durable-files.ts';
import { systemCode } from '../base/errors.ts';
import { usageError } from './usage-error.ts';

/** Rewords file system errors, so that they name the user's file and say what to do. Returns other errors unchanged. */
export function fileError(error: unknown, file: string): unknown {
  const code = systemCode(error) ?? '';
  if (code === 'EISDIR') return usageError(`${file} is a folder. Name a file.`, { cause: error });
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(code)) {
    return usageError(`${file} cannot be read or written. Check its folder and permissions.`, { cause: error });
  }
  return diskError(error);
}
