import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

export interface ComposeService {
  readonly image?: string;
  readonly build?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly expose?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly [key: string]: unknown;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

type Node = string | string[] | { [key: string]: Node } | undefined;

/**
 * Reads a compose file that uses an unambiguous subset of YAML: maps indented by two spaces, lists in brackets, strings in double
 * quotes or of plain letters. Throws on anything else.
 */
export function readComposeFile(file = 'compose.yaml'): ComposeFile {
  const lines = readFileSync(join(root, file), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  const parsed = readMap(lines, 0);
  assert.equal(lines.length, 0, `not understood: ${lines[0]}`);
  // Callers check the shape.
  return parsed as { [key: string]: Node } & ComposeFile;
}

function readMap(lines: string[], indent: number): { [key: string]: Node } {
  const map: { [key: string]: Node } = {};
  for (let line = lines[0]; line !== undefined; line = lines[0]) {
    const [, spaces = '', key = '', value = ''] = /^( *)([A-Za-z_][\w-]*):(?: (.+))?$/.exec(line) ?? [];
    assert.notEqual(key, '', `not understood: ${line}`);
    if (spaces.length < indent) break;
    assert.equal(spaces.length, indent, `wrong indentation: ${line}`);
    assert.equal(Object.hasOwn(map, key), false, `duplicate key: ${line}`);
    lines.shift();
    const isParent = value === '' && (lines[0]?.search(/\S/) ?? 0) > indent;
    map[key] = isParent ? readMap(lines, indent + 2) : readValue(value, line);
  }
  return map;
}

function readValue(value: string, line: string): Node {
  if (value === '') return undefined;
  if (value.startsWith('"') || value.startsWith('[')) {
    const parsed: unknown = JSON.parse(value);
    const isList = Array.isArray(parsed) && parsed.every((item) => typeof item === 'string');
    assert.ok(isList || typeof parsed === 'string', `not understood: ${line}`);
    return isList ? parsed.map(String) : String(parsed);
  }
  assert.match(value, /^[A-Za-z0-9./:_-]+$/, `not understood: ${line}`);
  return value;
}

/** Replaces `${NAME:?message}` and `${NAME:-default}` as Docker Compose does. */
export function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name: string, kind: string, argument: string) => {
    const value = env[name];
    if (value !== undefined && value !== '') return value;
    assert.equal(kind, '-', `${name}: ${argument}`);
    return argument;
  });
}

export interface Dockerfile {
  readonly text: string;
  /** The instructions of the last stage, by name. */
  readonly last: ReadonlyMap<string, readonly string[]>;
}

export function readDockerfile(): Dockerfile {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const instructions = text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => /^([A-Z]+) (.+)$/.exec(line) ?? assert.fail(`not understood: ${line}`));
  const start = instructions.findLastIndex(([, name]) => name === 'FROM');
  const lastStage = new Map<string, string[]>();
  for (const [, name = '', argument = ''] of instructions.slice(start))
    lastStage.set(name, [...(lastStage.get(name) ?? []), argument]);
  return { text, last: lastStage };
}
