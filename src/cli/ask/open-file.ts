import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { extname, isAbsolute } from 'node:path';
import { CarrelError } from '../../base/errors.ts';

/**
 * Kinds that systems show and do not run. The path is what somebody said when the document was added, which need not have
 * been the owner of this machine: a script, an application or a link in its place must not be started.
 */
const shown: ReadonlySet<string> = new Set(
  'pdf md markdown txt text log csv tsv docx xlsx pptx odt ods odp rtf epub eml json xml html htm tex rst org png jpg jpeg gif'.split(
    ' ',
  ),
);

/** Opens a document with the program that the system has for it, without waiting for it. */
export function openFile(sourcePath: unknown): void {
  const file = checkedFile(sourcePath);
  const [command, ...args] = openerOf(process.platform, file);
  const child = spawn(command, args, { detached: true, stdio: 'ignore', shell: false });
  child.on('error', () => process.stderr.write(`carrel: ${command} cannot be started here; the file is ${file}\n`));
  child.unref();
}

/** Never through a shell: the path is one argument, whatever is in it. */
export function openerOf(platform: NodeJS.Platform, file: string): [command: string, ...args: string[]] {
  if (platform === 'darwin') return ['/usr/bin/open', file];
  if (platform === 'win32') return ['explorer.exe', file];
  return ['xdg-open', file];
}

export function checkedFile(sourcePath: unknown): string {
  if (typeof sourcePath !== 'string' || sourcePath === '') {
    throw new CarrelError('invalid_usage', 'There is no file to open: nothing was found, or it came without a path.');
  }
  const named = JSON.stringify(sourcePath.slice(0, 200));
  const isFile = isAbsolute(sourcePath) && statSync(sourcePath, { throwIfNoEntry: false })?.isFile() === true;
  if (!isFile) throw new CarrelError('invalid_usage', `${named} is no file on this machine, so it was not opened.`);
  if (!shown.has(extname(sourcePath).slice(1).toLowerCase())) {
    throw new CarrelError('invalid_usage', `${named} might be run instead of shown, so it was not opened.`);
  }
  return sourcePath;
}
