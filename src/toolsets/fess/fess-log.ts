import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CarrelError } from '../../base/errors.ts';
import { formatFields, type LogRecord, type LogSink, logLine } from '../../base/log.ts';
import { createFileSink } from '../../base/log-sinks.ts';
import type { FessConfig } from './read-fess-config.ts';

const fileBytesMax = 10 * 1024 * 1024;
/** Max log files, to limit disk use. */
const filesMax = 20;
const dayMs = 86_400_000;

/** Opens the log of the Fess bridge, in the folder `log/` next to the configuration file. */
export function openFessLog({ folder, logging }: FessConfig, debug: boolean): LogSink {
  const logFolder = join(folder, 'log');
  try {
    mkdirSync(logFolder, { recursive: true, mode: 0o700 });
    removeOldLogs(logFolder, logging.retainDays);
    setInterval(() => removeOldLogs(logFolder, logging.retainDays), dayMs).unref();
    return debug
      ? createFileSink({ file: join(logFolder, debugFileName(new Date())), level: 'debug', format: elapsedLine })
      : createFileSink({
          file: join(logFolder, 'server.log'),
          level: logging.level,
          bytesMax: fileBytesMax,
          filesMax,
        });
  } catch (error) {
    const message = `Can't write the log to ${logFolder}. Make the folder writable.`;
    throw new CarrelError('invalid_config', message, { cause: error });
  }
}

/** Formats a line with the time since the start, as `[HH:MM:SS]`. Joins multi-line messages. */
function elapsedLine({ level, event, fields }: LogRecord): string {
  return `[${clock(Math.floor(process.uptime()))}] ${logLine(`${level} ${event}${formatFields(fields)}`)}`;
}

function clock(seconds: number): string {
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(twoDigits).join(':');
}

/** Returns the name of a debug log, in local time. */
function debugFileName(now: Date): string {
  const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map(twoDigits).join('-');
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(twoDigits).join('-');
  return `${date}_${time}_server.log`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

function removeOldLogs(folder: string, retainDays: number): void {
  const cutoff = Date.now() - retainDays * dayMs;
  for (const name of readdirSync(folder)) {
    const isOurs = /^server\.log\.\d+$|^\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_server\.log(?:\.\d+)?$/.test(name);
    const file = join(folder, name);
    if (isOurs && statSync(file).mtimeMs < cutoff) rmSync(file, { force: true });
  }
}
