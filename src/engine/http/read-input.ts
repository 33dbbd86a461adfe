import type { IncomingMessage, ServerResponse } from 'node:http';
import type * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { isJsonBody, readBody } from '../../http/body.ts';
import { invalidInput } from '../contract/validate-input.ts';
import type { LocalEngine } from '../local/submit.ts';

/** A request that passed the guards and matched a route. */
export interface RouteCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly engine: LocalEngine;
  readonly query: URLSearchParams;
  /** The `:id` of the path. */
  readonly id: string;
  readonly isReadOnly: boolean;
  readonly signal: AbortSignal;
}

/** Max bytes of a JSON body: a note may have a million characters, and JSON may take six bytes for each. */
const jsonBytesMax = 8 * 1024 * 1024;

/** Reads the body and parses it by the schema. Errors name the field. */
export async function readJson<Schema extends z.ZodType>(
  request: IncomingMessage,
  schema: Schema,
): Promise<z.output<Schema>> {
  if (!isJsonBody(request)) {
    throw new CarrelError('unsupported_media_type', 'The body must be JSON: Content-Type: application/json.');
  }
  const body = await readBody(request, jsonBytesMax);
  if (!body.ok) {
    throw body.status === 413
      ? new CarrelError('too_large', body.problem, { data: { bytesMax: jsonBytesMax } })
      : new CarrelError('malformed_body', body.problem);
  }
  const parsed = schema.safeParse(parse(body.bytes), { error: problemOf });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw invalidInput(`${field === '' ? 'The body' : field} ${issue?.message ?? 'is invalid'}`);
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

/** Describes a problem with a field. A message in the schema takes precedence. */
function problemOf(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'invalid_type') return `must be ${kinds[issue.expected] ?? issue.expected}`;
  if (issue.code === 'too_big') return `must have at most ${issue.maximum} items`;
  return 'is invalid';
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new CarrelError('malformed_body', 'The body is not valid JSON in UTF-8.', { cause });
  }
}

export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^\d{1,15}$/.test(value)) throw invalidInput(`${name} must be a whole number, 0 or more`);
  return Number(value);
}

export function readList(query: URLSearchParams, name: string): string[] | undefined {
  const values = query.getAll(name).flatMap((part) => part.split(','));
  return values.length === 0 ? undefined : values;
}

export function readText(query: URLSearchParams, name: string): string | undefined {
  return query.get(name) || undefined;
}
