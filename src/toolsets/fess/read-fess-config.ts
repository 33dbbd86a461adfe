import { existsSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { findHome } from '../../base/home-folder.ts';
import { isObject } from '../../base/json.ts';
import { registerAddress, type Secret } from '../../base/secret.ts';
import { recordConsulted } from '../../config/consulted-files.ts';
import { exposedWarning, isReadableByOthers } from '../../config/exposed-file.ts';
import { readJsonFile } from '../../config/load.ts';
import { parseTargetList } from '../../web/target-list.ts';
import { type FessSettings, fessConfigSchema, secretText } from './fess-config.ts';
import { type KnowledgeDomain, readDomains, visibleText } from './knowledge-domain.ts';

export interface FessConfig extends FessSettings {
  /** The file's path. The folder `log/` is next to it. */
  file: string;
  folder: string;
  /** All domains, from `domain` and `domains`. */
  knowledgeDomains: readonly KnowledgeDomain[];
  allowsOtherHosts: boolean;
  /** Problems to log that do not prevent the start. */
  warnings: readonly string[];
}

/** Reads the configuration from `path`, by default from the first of the usual folders that has one. */
export function readFessConfig(env: Environment, path?: string): FessConfig {
  const file = path === undefined ? findFessConfig(env) : resolve(path);
  const content = file === undefined ? undefined : readJsonFile(file);
  if (file === undefined || content === undefined) throw missing(file ?? expectedFessConfig(env));
  const parsed = fessConfigSchema.safeParse(content, { reportInput: true });
  if (!parsed.success) throw invalid(file, parsed.error.issues[0]);
  const settings = { ...parsed.data, ...tokenFrom(env) };
  checkHosts(file, settings);
  registerAddress(settings.fessBaseUrl);
  return {
    ...settings,
    file,
    folder: dirname(file),
    knowledgeDomains: readDomains(file, settings),
    allowsOtherHosts: settings.security.allowNonLocalhostBind || settings.security.allowNonlocalhostBind,
    warnings: [
      ...unknownKeys(content, fessConfigSchema, '').map((path) => `${file}: ${path} is not a setting`),
      ...fieldsWithInvisibleText(settings).map(
        (path) => `${file}: ${path} has invisible characters, which are removed`,
      ),
      ...(containsSecret(parsed.data) && isReadableByOthers(file) ? [exposedWarning(file)] : []),
    ],
  };
}

function missing(file: string): CarrelError {
  return new CarrelError(
    'invalid_config',
    `config.json is missing: expected at ${file}. Create it with fessBaseUrl and domain {id, name, labelFilter}; docs/fess.md has an example.`,
  );
}

function invalid(file: string, issue: z.core.$ZodIssue | undefined): CarrelError {
  const path = formatPath(issue?.path ?? []);
  const subject = path === '' ? 'the file' : path;
  return new CarrelError(
    'invalid_config',
    `${file}: ${subject} ${issue?.message ?? 'is not valid'}${formatInput(issue)}.`,
  );
}

/** Formats the invalid value, unless it is too long or could be a secret. */
function formatInput(issue: z.core.$ZodIssue | undefined): string {
  const name = String(issue?.path.at(-1) ?? '');
  if (issue?.input === undefined || /token|url/i.test(name)) return '';
  const formatted = JSON.stringify(issue.input) ?? '';
  return formatted.length > 60 ? '' : `, not ${formatted}`;
}

function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`;
  return text;
}

/** Reads the token from the environment. It overrides the one in the file. */
function tokenFrom(env: Environment): { fessAccessToken?: Secret } {
  const text = env['FESS_ACCESS_TOKEN']?.trim() ?? '';
  if (text === '') return {};
  const parsed = secretText().safeParse(text);
  if (parsed.success) return { fessAccessToken: parsed.data };
  throw new CarrelError('invalid_config', `FESS_ACCESS_TOKEN ${parsed.error.issues[0]?.message}.`);
}

function checkHosts(file: string, { contentFetch }: FessSettings): void {
  try {
    parseTargetList(contentFetch.allowedHostAllowlist);
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    throw new CarrelError('invalid_config', `${file}: contentFetch.allowedHostAllowlist: ${error.message}`);
  }
}

/** Returns true if the file contains a token, or a password in the URL. */
function containsSecret({ fessAccessToken, security, fessBaseUrl }: FessSettings): boolean {
  return (fessAccessToken ?? security.httpAuthToken) !== undefined || new URL(fessBaseUrl).password !== '';
}

function fieldsWithInvisibleText({ domain, domains = [] }: FessSettings): string[] {
  const all = [...(domain ? [domain] : []), ...domains];
  return all.flatMap(({ id, name, description = '' }) =>
    Object.entries({ id, name, description })
      .filter(([, text]) => visibleText(text) !== text)
      .map(([key]) => `${key} of the domain ${JSON.stringify(visibleText(id))}`),
  );
}

/** Returns the paths of unknown keys, so that a misspelt setting is not silently ignored. */
function unknownKeys(value: unknown, schema: unknown, path: string): string[] {
  const inner = unwrap(schema);
  if (Array.isArray(value) && inner instanceof z.ZodArray) {
    return value.flatMap((item, index) => unknownKeys(item, inner.element, `${path}[${index}]`));
  }
  if (!isObject(value) || !(inner instanceof z.ZodObject)) return [];
  const shape: Record<string, unknown> = inner.shape;
  return Object.entries(value).flatMap(([key, child]) => {
    const keyPath = path === '' ? key : `${path}.${key}`;
    return Object.hasOwn(shape, key) ? unknownKeys(child, shape[key], keyPath) : [keyPath];
  });
}

function unwrap(schema: unknown): unknown {
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isWrapped ? unwrap(schema.unwrap()) : schema;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Folders of the configuration file. The MCP-Fess specification spells the first with and without a dot. */
const folders = ['.mcp-feiss', 'mcp-feiss', '.mcp-fess'] as const;

/** Returns the first configuration file that exists, in the order of `folders`. Undefined if there is none. */
export function findFessConfig(env: Environment): string | undefined {
  for (const folder of folders) {
    const file = configFile(env, folder);
    if (existsSync(file)) return file;
    recordConsulted(file, undefined);
  }
  return undefined;
}

/** Returns the path to name in the error if there is no file. */
function expectedFessConfig(env: Environment): string {
  return configFile(env, folders[0]);
}

function configFile(env: Environment, folder: string): string {
  return join(env['HOME'] || env['USERPROFILE'] || (findHome() ?? sep), folder, 'config.json');
}
