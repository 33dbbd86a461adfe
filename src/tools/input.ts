import * as z from 'zod';
import { CarrelError } from '../base/errors.ts';
import { parseExact } from '../base/exact-json.ts';
import { isObject } from '../base/json.ts';
import { toJsonSchema, withoutBounds } from './json-schema.ts';
import type { Tool } from './tool.ts';
import { mayBecomeJob, type Toolset } from './toolset.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

interface ParsedInput {
  input: unknown;
  /** Keeps the request open instead of returning a job handle. */
  wait: boolean;
}

export interface InputParser {
  /** As shown by `tools/list`. */
  schema: JsonSchema;
  parse(raw: unknown): ParsedInput;
}

/**
 * Creates a parser from a tool's input schema. It also accepts what some clients send: JSON text for arrays and
 * objects, and null for omitted fields. Unknown arguments are errors, because ignoring a misspelt filter would return
 * wrong results.
 */
export function createInputParser(tool: Tool, toolset: Toolset): InputParser {
  const { acceptsTextValues = false } = toolset;
  const mayWait = mayBecomeJob(tool, toolset);
  const strict = (mayWait ? tool.input.extend(waitInput) : tool.input).strict();
  const schema = toJsonSchema(strict, 'input');
  const code = tool.argumentError ?? 'invalid_arguments';
  return {
    schema: toolset.listsBounds === true ? schema : withoutBounds(schema),
    parse(raw) {
      const args = isObject(raw) ? relax(raw, schema, acceptsTextValues) : raw === undefined || raw === null ? {} : raw;
      const outcome = strict.safeParse(args, { reportInput: true });
      if (outcome.success) {
        const { wait, ...input } = outcome.data;
        return mayWait ? { input, wait: wait === true } : { input: outcome.data, wait: false };
      }
      const faults = outcome.error.issues.slice(0, faultsMax).map((issue) => describeIssue(issue, schema));
      throw new CarrelError(code, `Invalid arguments for ${tool.name}: ${faults.map(sentence).join('; ')}.`, {
        data: { details: { faults } },
      });
    },
  };
}

/** Extra argument of every tool whose calls may become jobs. */
const waitInput = {
  wait: z.boolean().optional().describe('Wait for the result instead of getting a job handle.'),
};

/** An invalid argument. `problem` continues a sentence that starts with the name of the field. */
interface Fault {
  field: string;
  problem: string;
}

/** Max faults in an error, so that hostile arguments can't make it long. */
const faultsMax = 5;

function sentence({ field, problem }: Fault): string {
  return field === '' ? problem : `${field} ${problem}`;
}

/**
 * Parses JSON text where the schema expects an array or object, and drops nulls that stand for omitted fields. Copies
 * `value` only if something changes.
 */
function relax(
  value: Record<string, unknown>,
  schema: JsonSchema,
  acceptsTextValues: boolean,
): Record<string, unknown> {
  const properties = schema.properties ?? {};
  let relaxed: Record<string, unknown> | undefined;
  for (const [key, member] of Object.entries(value)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined || typeof property === 'boolean') continue;
    const isOmitted = member === null && !schema.required?.includes(key) && !accepts(property, 'null');
    const converted = isOmitted ? undefined : relaxValue(member, property, acceptsTextValues);
    if (converted === member) continue;
    // Without a prototype, `__proto__` stays a plain argument.
    relaxed ??= Object.assign(Object.create(null), value) as Record<string, unknown>;
    if (isOmitted) delete relaxed[key];
    else relaxed[key] = converted;
  }
  return relaxed ?? value;
}

function relaxValue(value: unknown, schema: JsonSchema, acceptsTextValues: boolean): unknown {
  // A bigint is too large for any number argument, so the range check rejects the converted value.
  if (typeof value === 'bigint' && schema.type !== undefined) return Number(value);
  if (typeof value === 'string' && !accepts(schema, 'string')) return parseIfFits(value, schema, acceptsTextValues);
  if (Array.isArray(value) && isObject(schema.items)) {
    const items: JsonSchema = schema.items;
    return value.map((item) => relaxValue(item, items, acceptsTextValues));
  }
  if (isObject(value) && schema.properties) return relax(value, schema, acceptsTextValues);
  return value;
}

function parseIfFits(text: string, schema: JsonSchema, acceptsTextValues: boolean): unknown {
  const wantsArray = accepts(schema, 'array');
  const wantsObject = accepts(schema, 'object');
  if (!wantsArray && !wantsObject) return acceptsTextValues ? numberOrBoolean(text, schema) : text;
  try {
    const decoded = parseExact(text);
    // Some clients encode JSON twice.
    const parsed: unknown = typeof decoded === 'string' ? parseExact(decoded) : decoded;
    if (Array.isArray(parsed) ? wantsArray : isObject(parsed) && wantsObject) {
      return relaxValue(parsed, schema, acceptsTextValues);
    }
  } catch {
    // Not JSON: keep the text, and the schema check reports it.
  }
  return text;
}

function numberOrBoolean(text: string, schema: JsonSchema): unknown {
  if (/^-?\d{1,15}$/.test(text) && (accepts(schema, 'integer') || accepts(schema, 'number'))) return Number(text);
  if (/^(?:true|false)$/i.test(text) && accepts(schema, 'boolean')) return text.toLowerCase() === 'true';
  return text;
}

function accepts(schema: JsonSchema, type: string): boolean {
  if (schema.type === type || (Array.isArray(schema.type) && schema.type.includes(type as never))) return true;
  if (schema.enum?.some((value) => typeof value === type)) return true;
  if (typeof schema.const === type) return true;
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (branches.length > 0) return branches.some((branch) => typeof branch !== 'boolean' && accepts(branch, type));
  return schema.type === undefined && schema.enum === undefined && schema.const === undefined;
}

function describeIssue(issue: z.core.$ZodIssue, schema: JsonSchema): Fault {
  return { field: formatPath(issue.path), problem: describeProblem(issue, schema) };
}

function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path)
    text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${formatName(part)}`;
  return text;
}

function describeProblem(issue: z.core.$ZodIssue, schema: JsonSchema): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `is required (${article(issue.expected)})`
        : `must be ${article(issue.expected)}`;
    case 'too_small':
      return bound('at least', issue.origin, issue.minimum);
    case 'too_big':
      return `${bound('at most', issue.origin, issue.maximum)}${exceeding(issue.input)}`;
    case 'unrecognized_keys': {
      const valid = issue.path.length === 0 ? Object.keys(schema.properties ?? {}) : [];
      const hint = valid.length > 0 ? `; valid arguments: ${valid.join(', ')}` : '';
      return `does not take ${issue.keys.slice(0, 3).map(formatName).join(', ')}${hint}`;
    }
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.slice(0, 20).map(String).join(', ')}`;
    case 'invalid_format':
      return `must be a valid ${issue.format === 'url' ? 'URL' : issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return 'does not match any accepted shape';
    case 'custom':
      return issue.message;
    default:
      return 'is not valid';
  }
}

function bound(comparison: string, origin: string, limit: number | bigint): string {
  if (origin === 'string') return `must have ${comparison} ${limit} character${limit === 1 ? '' : 's'}`;
  if (origin === 'array' || origin === 'set') return `must have ${comparison} ${limit} item${limit === 1 ? '' : 's'}`;
  return `must be ${comparison} ${limit}`;
}

/** Returns the end of an error about an exceeded limit: the actual size or value. */
function exceeding(input: unknown): string {
  if (typeof input === 'string' || Array.isArray(input)) return `, and has ${input.length}`;
  return typeof input === 'number' || typeof input === 'bigint' ? `, not ${input}` : '';
}

function article(type: string): string {
  if (type === 'int') return 'an integer';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Shortens an argument name from the caller and replaces unsafe characters. */
function formatName(name: PropertyKey): string {
  return String(name)
    .replace(/[^\w.$-]/g, '?')
    .slice(0, 64);
}
