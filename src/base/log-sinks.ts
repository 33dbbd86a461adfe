import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from './errors.ts';
import { formatRecord, type LogLevel, type LogRecord, type LogSink } from './log.ts';
import { makeFolder } from './make-folder.ts';

export interface FileSinkOptions {
  file: string;
  level: LogLevel;
  /** The file is moved aside to `<file>.1` … `<file>.N` when it would grow past this. */
  bytesMax?: number;
  filesMax?: number;
  /** One line, without its line break. */
  format?: (record: LogRecord) => string;
}

const flushDelayMs = 200;
const bufferCharsMax = 64 * 1024;

/**
 * Lines are buffered and written together, so that a busy server does not pay a system call for each; warnings and
 * errors are written at once. A disk that is full or gone must not take the server down: lines are then dropped.
 */
export function createFileSink(options: FileSinkOptions): LogSink {
  const { file, level, bytesMax = 10 * 1024 * 1024, filesMax = 3, format = formatRecord } = options;
  makeFolder(dirname(file));
  let handle = openSync(file, 'a', 0o600);
  let size = statSync(file).size;
  let buffer = '';
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (buffer === '') return;
    const bytes = Buffer.from(buffer);
    buffer = '';
    try {
      if (size > 0 && size + bytes.length > bytesMax) rotate();
      writeSync(handle, bytes);
      size += bytes.length;
    } catch {
      // There is nowhere left to report it.
    }
  };

  const rotate = (): void => {
    closeSync(handle);
    rmSync(`${file}.${filesMax}`, { force: true });
    for (let index = filesMax - 1; index >= 1; index -= 1) renameIfThere(`${file}.${index}`, `${file}.${index + 1}`);
    renameIfThere(file, `${file}.1`);
    handle = openSync(file, 'a', 0o600);
    size = 0;
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

/** stderr is for people: only what they must know, without the file's timestamps. `tell` is for another process's stderr. */
export function createStderrSink(
  level: LogLevel,
  format: (record: LogRecord) => string = formatRecord,
  tell: (text: string) => void = (text) => void process.stderr.write(text),
): LogSink {
  return {
    level,
    write(record) {
      tell(`${format(record)}\n`);
    },
    flush() {},
  };
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
