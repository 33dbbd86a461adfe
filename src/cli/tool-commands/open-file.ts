import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { extname, isAbsolute } from 'node:path';
import { usageError } from '../usage-error.ts';

/**
 * File types that systems display and don't execute. Anyone who adds a document chooses its path, so a script, application or
 * link must never be started.
 */
const displayable: ReadonlySet<string> = new Set(
  'pdf md markdown txt text log csv tsv docx xlsx pptx odt ods odp rtf epub eml json xml html htm tex rst org png jpg jpeg gif'.split(
    ' ',
  ),
);

/** Opens a document in the system's default program, without waiting for it. */
export function openFile(sourcePath: unknown): void {
  const file = requireDisplayableFile(sourcePath);
  const [command, ...args] = openerOf(process.platform, file);
  const child = spawn(command, args, { detached: true, stdio: 'ignore', shell: false });
  child.on('error', () => process.stderr.write(`carrel: cannot start ${command}; the file is ${file}\n`));
  child.unref();
}

/** Returns the command that opens a file. It runs without a shell, with the path as a single argument. */
export function openerOf(platform: NodeJS.Platform, file: string): [command: string, ...args: string[]] {
  if (platform === 'darwin') return ['/usr/bin/open', file];
  if (platform === 'win32') return ['explorer.exe', file];
  return ['xdg-open', file];
}

export function requireDisplayableFile(sourcePath: unknown): string {
  if (typeof sourcePath !== 'string' || sourcePath === '') {
    throw usageError('There is no file to open: nothing was found, or the result has no path.');
  }
  const quoted = JSON.stringify(sourcePath.slice(0, 200));
  const isFile = isAbsolute(sourcePath) && statSync(sourcePath, { throwIfNoEntry: false })?.isFile() === true;
  if (!isFile) throw usageError(`${quoted} is not a file on this machine, so it was not opened.`);
  if (!displayable.has(extname(sourcePath).slice(1).toLowerCase())) {
    throw usageError(`${quoted} might be executed instead of displayed, so it was not opened.`);
  }
  return sourcePath;
}
