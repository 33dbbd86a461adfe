import { randomUUID } from 'node:crypto';
import { scrubSecrets } from './secret.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFields = Record<string, unknown>;

export interface LogRecord {
  time: Date;
  level: LogLevel;
  /** What happened, in Carrel's own words. */
  event: string;
  fields: LogFields;
}

export interface LogSink {
  level: LogLevel;
  write(record: LogRecord): void;
  flush(): void;
}

export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** Logs an unexpected error under a new incident id. The caller gets only the id. */
  incident(event: string, error: unknown, fields?: LogFields): string;
  enabled(level: LogLevel): boolean;
  with(fields: LogFields): Logger;
  flush(): void;
}

export function createLogger(sinks: readonly LogSink[], boundFields: LogFields = {}): Logger {
  const write = (level: LogLevel, event: string, fields?: LogFields): void => {
    const rank = logLevels.indexOf(level);
    for (const sink of sinks) {
      if (rank < logLevels.indexOf(sink.level)) continue;
      sink.write({ time: new Date(), level, event, fields: { ...boundFields, ...fields } });
    }
  };
  return {
    debug: (event, fields) => write('debug', event, fields),
    info: (event, fields) => write('info', event, fields),
    warn: (event, fields) => write('warn', event, fields),
    error: (event, fields) => write('error', event, fields),
    incident(event, error, fields) {
      const incident = randomUUID();
      write('error', event, { incident, ...fields, error });
      return incident;
    },
    enabled: (level) => sinks.some((sink) => logLevels.indexOf(level) >= logLevels.indexOf(sink.level)),
    with: (fields) => createLogger(sinks, { ...boundFields, ...fields }),
    flush() {
      for (const sink of sinks) sink.flush();
    },
  };
}

export const silentLogger: Logger = createLogger([]);

/** Formats a record as one line, such as `2026-11-15T10:00:00.000Z warn the upstream is slow host=a ms=1200`. */
export function formatRecord({ time, level, event, fields }: LogRecord): string {
  return logLine(`${time.toISOString()} ${level} ${event}${formatFields(fields)}`);
}

export function formatFields(fields: LogFields): string {
  let text = '';
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) text += ` ${key}=${formatValue(value)}`;
  }
  return text;
}

function formatValue(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(describeError(value));
  if (typeof value === 'string') return /^[\w.:/@+-]{1,200}$/.test(value) ? value : JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value);
}

function describeError(error: Error): string {
  const text = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause instanceof Error ? `${text}\ncaused by ${describeError(error.cause)}` : text;
}

/** Escapes control characters and line separators, which could forge log lines or control a terminal. */
export function logLine(text: string): string {
  const flat = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (char) =>
    char === '\n' ? '\\n' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return scrubSecrets(flat);
}
