import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from './errors.ts';
import { formatRecord, type LogLevel, type LogRecord, type LogSink } from './log.ts';
import { makeFolder } from './make-folder.ts';

export interface FileSinkOptions {
  file: string;
  level: LogLevel;
  /** Max bytes of the file. Before it would be exceeded, the file is rotated to `<file>.1` … `<file>.N`. */
  bytesMax?: number;
  filesMax?: number;
  /** Formats a record as one line, without the line break. */
  format?: (record: LogRecord) => string;
}

const flushDelayMs = 200;
const bufferCharsMax = 64 * 1024;

/**
 * Creates a sink for a log file. It buffers lines to save system calls, but writes warnings and errors immediately. If a write fails,
 * its lines are dropped: logging must not stop the server.
 */
export function createFileSink(options: FileSinkOptions): LogSink {
  const { file, level, bytesMax = 10 * 1024 * 1024, filesMax = 3, format = formatRecord } = options;
  let openFile: OpenFile | undefined = openLog(file);
  let buffer = '';
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (buffer === '') return;
    const bytes = Buffer.from(buffer);
    buffer = '';
    try {
      writeSync(fileFor(bytes.length).handle, bytes);
    } catch {
      // The log itself failed, so there is nowhere to report this.
    }
  };

  /** Returns the file to write to. Reopens it if another process that shares it has moved or removed it. */
  const fileFor = (bytes: number): OpenFile => {
    const stats = statSync(file, { throwIfNoEntry: false });
    const isFull = stats !== undefined && stats.size > 0 && stats.size + bytes > bytesMax;
    if (isFull || stats?.ino !== openFile?.inode) close();
    if (isFull) rotate();
    openFile ??= openLog(file);
    return openFile;
  };

  /** Closes the file only once, because its descriptor number may be reused. */
  const close = (): void => {
    const handle = openFile?.handle;
    openFile = undefined;
    if (handle !== undefined) closeSync(handle);
  };

  const rotate = (): void => {
    rmSync(`${file}.${filesMax}`, { force: true });
    for (let index = filesMax - 1; index >= 1; index -= 1) renameIfExists(`${file}.${index}`, `${file}.${index + 1}`);
    renameIfExists(file, `${file}.1`);
  };

  return {
    level,
    write(record) {
      buffer += `${format(record)}\n`;
      if (record.level === 'warn' || record.level === 'error' || buffer.length > bufferCharsMax) flush();
      else timer ??= setTimeout(flush, flushDelayMs).unref();
    },
    flush,
  };
}

interface OpenFile {
  readonly handle: number;
  readonly inode: number;
}

function openLog(file: string): OpenFile {
  makeFolder(dirname(file));
  const handle = openSync(file, 'a', 0o600);
  return { handle, inode: fstatSync(handle).ino };
}

/** Creates a sink that writes to stderr or, through `writeText`, to the stderr of another process. */
export function createStderrSink(
  level: LogLevel,
  format: (record: LogRecord) => string = formatRecord,
  writeText: (text: string) => void = (text) => void process.stderr.write(text),
): LogSink {
  return {
    level,
    write(record) {
      writeText(`${format(record)}\n`);
    },
    flush() {},
  };
}

function renameIfExists(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
