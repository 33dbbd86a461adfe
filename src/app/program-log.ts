import { join } from 'node:path';
import { CarrelError } from '../base/errors.ts';
import { createLogger, formatFields, type Logger, type LogSink } from '../base/log.ts';
import { createFileSink, createStderrSink } from '../base/log-sinks.ts';
import type { Config } from '../config/load.ts';
import { logSlice } from '../config/slices.ts';
import type { Role } from './role.ts';

export interface ProgramLog {
  log: Logger;
  file: LogSink;
  /** Creates a sink for messages to users, on stderr unless `print` is given. */
  createUserSink(print?: (text: string) => void): LogSink;
}

export function openProgramLog(role: Role, config: Config, debug: boolean, print?: (text: string) => void): ProgramLog {
  const createUserSink: ProgramLog['createUserSink'] = (output) =>
    createStderrSink(
      debug ? 'debug' : 'warn',
      ({ event, fields }) => `carrel: ${event}${formatFields(fields)}`,
      output,
    );
  const file = role.openLog?.(debug) ?? openLogFile(config, debug);
  logCrashes(createLogger([file], { role: role.name }));
  return { log: createLogger([file, createUserSink(print)], { role: role.name }), file, createUserSink };
}

/** Logs the stack of a crash. The exit handler informs the user. */
function logCrashes(log: Logger): void {
  process.on('uncaughtExceptionMonitor', (error, origin) => {
    log.incident('crashed', error, { origin });
    log.flush();
  });
}

function openLogFile(config: Config, debug: boolean): LogSink {
  const { level, fileBytesMax, filesMax } = config.of(logSlice);
  const file = join(config.dataDir, 'log', 'carrel.log');
  try {
    return createFileSink({ file, level: debug ? 'debug' : level, bytesMax: fileBytesMax, filesMax });
  } catch (error) {
    const message = `Can't write the log file ${file}. Check its permissions, or choose another folder with --data-dir.`;
    throw new CarrelError('invalid_config', message, { cause: error });
  }
}
