import { createLogger, formatFields, type Logger } from '../base/log.ts';
import { createStderrSink } from '../base/log-sinks.ts';
import type { CommandLine } from './command-line.ts';

/** Creates the log of a command. It writes errors to stderr or, with `--debug`, everything. */
export function logOf({ flags }: CommandLine): Logger {
  const level = flags['debug'] === true ? 'debug' : 'error';
  return createLogger([createStderrSink(level, ({ event, fields }) => `carrel: ${event}${formatFields(fields)}`)]);
}
