import { createLogger, formatFields, type Logger, silentLogger } from '../base/log.ts';
import { createStderrSink } from '../base/log-sinks.ts';
import type { CommandLine } from './command-line.ts';

/** Commands for people keep no log; with `--debug` everything goes to stderr. */
export function logOf({ flags }: CommandLine): Logger {
  if (flags['debug'] !== true) return silentLogger;
  return createLogger([createStderrSink('debug', ({ event, fields }) => `carrel: ${event}${formatFields(fields)}`)]);
}
