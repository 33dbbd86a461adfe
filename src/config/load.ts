import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { byteOrderMark } from '../base/byte-order-mark.ts';
import { CarrelError, systemCode } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { readRegularFile } from '../base/read-regular-file.ts';
import { scrubSecrets } from '../base/secret.ts';
import { recordConsulted } from './consulted-files.ts';
import { dataDirOf, dataDirVariables } from './data-dir.ts';
import { exposedWarning, isReadableByOthers } from './exposed-file.ts';
import { ConfigFault, type Field, type Slice, type SliceValues } from './field.ts';
import { locateJsonFault } from './json-fault.ts';

export interface ConfigSources {
  slices: readonly Slice[];
  /** Command-line flags by name, without dashes. */
  flags: Readonly<Record<string, string | boolean | undefined>>;
  env: Readonly<Record<string, string | undefined>>;
  /** Defaults and variable names that differ in this role, by `slice.field`. */
  overrides?: Readonly<Record<string, FieldOverride>>;
  /** False skips the program's configuration file, because the role has its own. */
  readsFile?: boolean;
  /** Sections that other roles read. A section that is neither here nor in `slices` is reported as unknown. */
  otherSections?: readonly string[];
  /** A `.env` file to read variables from. Real environment variables override them. */
  envFile?: EnvFileSource;
  /** Environment variables for the data folder, in order of precedence. */
  dataDirVariables?: readonly string[];
}

export interface EnvFileSource {
  readonly folder: string;
  /** The only variables that the file may set, because the folder may be untrusted, such as a freshly cloned repository. */
  readonly variables: readonly string[];
}

export interface FieldOverride {
  default?: unknown;
  env?: readonly string[];
}

export interface Setting {
  /** `slice.field`, which is also the path in the configuration file. */
  path: string;
  value: unknown;
  /** The value without secrets, for printing. */
  printable: unknown;
  /** `default`, or the file, variable or flag it came from. */
  source: string;
}

export interface Config {
  readonly dataDir: string;
  readonly settings: readonly Setting[];
  /** Problems worth reporting that do not stop the program. */
  readonly warnings: readonly string[];
  /** The configuration file, if it holds a secret and other users may read it. */
  readonly exposedFile: string | undefined;
  /** True if the settings depend on the current folder, because of a relative path or a `.env` file. */
  readonly dependsOnFolder: boolean;
  of<S extends Slice>(slice: S): SliceValues<S>;
}

const fileBytesMax = 1024 * 1024;

/** Reads all settings. Each source overrides the previous: defaults, configuration file, environment, flags. */
export function loadConfig(sources: ConfigSources): Config {
  const { slices, flags, overrides = {} } = sources;
  const envFile = readEnvFile(sources.envFile);
  const env = { ...envFile.env, ...sources.env };
  const dataDir = dataDirOf(flags['data-dir'], env, sources.dataDirVariables);
  const defaultPath = join(dataDir, 'config.json');
  const file = sources.readsFile === false ? undefined : readConfigFile(flags['config'], defaultPath);
  const warnings = [...unknownKeys(file, slices, sources.otherSections ?? []), ...rejectedWarning(envFile, slices)];

  const settings = new Map<string, Setting>();
  for (const slice of slices) {
    for (const [name, field] of Object.entries(slice.fields)) {
      const path = `${slice.name}.${name}`;
      settings.set(path, resolveSetting(path, field, overrides[path], file, env, flags));
    }
  }
  const relative = slices.filter((slice) => resolvePaths(slice, settings));
  const exposedFile = file && holdsSecret(file, slices) && isReadableByOthers(file.path) ? file.path : undefined;
  if (exposedFile !== undefined) warnings.push(exposedWarning(exposedFile));
  return {
    dataDir,
    settings: [...settings.values()],
    warnings,
    exposedFile,
    dependsOnFolder: sources.envFile !== undefined || relative.length > 0,
    of<S extends Slice>(slice: S) {
      const entries = Object.keys(slice.fields).map((name) => [name, settings.get(`${slice.name}.${name}`)?.value]);
      return Object.fromEntries(entries) as SliceValues<S>;
    },
  };
}

/** Makes the slice's paths absolute, because a server leaves its start folder. Returns true if one was relative. */
function resolvePaths({ name: sliceName, fields }: Slice, settings: Map<string, Setting>): boolean {
  const settingOf = (name: string) => settings.get(`${sliceName}.${name}`);
  const values = Object.fromEntries(Object.keys(fields).map((name) => [name, settingOf(name)?.value]));
  let isAnyRelative = false;
  for (const [name, { isPath }] of Object.entries(fields)) {
    const setting = settingOf(name);
    const value = setting?.value;
    if (setting === undefined || value === undefined) continue;
    if (!(typeof isPath === 'function' ? isPath(values) : isPath)) continue;
    const paths = [value].flat().map(String);
    isAnyRelative ||= !paths.every((path) => isAbsolute(path));
    const absolute = paths.map((path) => resolve(path));
    settings.set(setting.path, { ...setting, value: Array.isArray(value) ? absolute : absolute[0] });
  }
  return isAnyRelative;
}

interface ConfigFile {
  path: string;
  content: Record<string, unknown>;
}

function resolveSetting(
  path: string,
  field: Field<unknown>,
  override: FieldOverride | undefined,
  file: ConfigFile | undefined,
  env: Readonly<Record<string, string | undefined>>,
  flags: ConfigSources['flags'],
): Setting {
  if (field.flag !== undefined && flags[field.flag] !== undefined) {
    return read(path, field, flags[field.flag], `--${field.flag}`);
  }
  const setFlags = field.flags?.filter((flag) => flags[flag] === true) ?? [];
  if (setFlags.length > 0) return read(path, field, setFlags, setFlags.map((flag) => `--${flag}`).join(' '));
  // Many launchers use an empty variable for "not set".
  const isSet = (name: string) => env[name] !== undefined && (env[name] !== '' || field.refusesEmpty === true);
  const variable = (override?.env ?? field.env).find(isSet);
  if (variable !== undefined) return read(path, field, env[variable], variable);
  const fileValue = file && lookUp(file.content, path);
  if (file && fileValue !== undefined) return read(path, field, fileValue, file.path, `${path} in ${file.path}`);
  const value = override && 'default' in override ? override.default : field.default;
  return { path, value, printable: value, source: 'default' };
}

function read(path: string, field: Field<unknown>, raw: unknown, source: string, where = source): Setting {
  try {
    const value = field.read(raw);
    const printable = typeof value === 'string' && field.mask !== undefined ? field.mask(value) : value;
    return { path, value, printable, source };
  } catch (fault) {
    if (!(fault instanceof ConfigFault)) throw fault;
    const masked = typeof raw === 'string' && field.mask !== undefined ? field.mask(raw) : raw;
    // Secrets are masked before the text is shortened, because part of a secret is still a secret.
    const received = field.secret ? '' : `, not ${shorten(scrubSecrets(JSON.stringify(masked) ?? ''))}`;
    const code = source.startsWith('--') ? 'invalid_usage' : 'invalid_config';
    throw new CarrelError(code, `${where} ${fault.message}${received}.`);
  }
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function lookUp(content: Record<string, unknown>, path: string): unknown {
  const [sliceName = '', name = ''] = path.split('.');
  const slice = Object.hasOwn(content, sliceName) ? content[sliceName] : undefined;
  return isObject(slice) && Object.hasOwn(slice, name) ? slice[name] : undefined;
}

function holdsSecret({ content }: ConfigFile, slices: readonly Slice[]): boolean {
  return slices.some(({ name: sliceName, fields }) =>
    Object.entries(fields).some(
      ([name, field]) => field.secret && lookUp(content, `${sliceName}.${name}`) !== undefined,
    ),
  );
}

function unknownKeys(
  file: ConfigFile | undefined,
  slices: readonly Slice[],
  otherSections: readonly string[],
): string[] {
  if (file === undefined) return [];
  const warnings: string[] = [];
  for (const [sliceName, content] of Object.entries(file.content)) {
    const slice = slices.find(({ name }) => name === sliceName);
    if (slice === undefined) {
      if (!otherSections.includes(sliceName)) warnings.push(`${file.path}: ${sliceName} is not a section of settings.`);
      continue;
    }
    if (!isObject(content)) {
      throw new CarrelError('invalid_config', `${sliceName} in ${file.path} must be an object with settings.`);
    }
    for (const name of Object.keys(content)) {
      if (!Object.hasOwn(slice.fields, name)) warnings.push(`${file.path}: ${sliceName}.${name} is not a setting.`);
    }
  }
  return warnings;
}

function readConfigFile(flag: string | boolean | undefined, defaultPath: string): ConfigFile | undefined {
  const path = typeof flag === 'string' ? resolve(flag) : defaultPath;
  const content = readJsonFile(path);
  if (content !== undefined) return { path, content };
  if (typeof flag !== 'string') return undefined;
  throw new CarrelError('invalid_config', `The configuration file ${path} does not exist. Check --config.`);
}

/** Reads the JSON object in a file; undefined if the file does not exist. */
export function readJsonFile(path: string): Record<string, unknown> | undefined {
  let text: string;
  try {
    if (statSync(path).size > fileBytesMax) {
      throw new CarrelError(
        'invalid_config',
        `${path} is larger than ${fileBytesMax} bytes. Check that it is the right file.`,
      );
    }
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CarrelError) throw error;
    // ENOTDIR: the data folder is not a folder. The first write to it will report that.
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) {
      recordConsulted(path, undefined);
      return undefined;
    }
    const message = `Can't read the configuration file ${path}. It must be a regular file that you may read.`;
    throw new CarrelError('invalid_config', message, { cause: error });
  }
  recordConsulted(path, text);
  return parseJsonFile(path, text);
}

/** Parses a JSON object; the error says where the text is invalid. */
function parseJsonFile(path: string, content: string): Record<string, unknown> {
  const text = content.replace(byteOrderMark, '');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    const { line, column, found } = locateJsonFault(text);
    const message = `${path} is not valid JSON: line ${line}, column ${column}, found ${found}.`;
    throw new CarrelError('invalid_config', message, { cause: error });
  }
  if (!isObject(parsed)) throw new CarrelError('invalid_config', `${path} must contain a JSON object.`);
  return parsed;
}

interface EnvFile {
  path: string;
  env: Record<string, string | undefined>;
  /** Variables that a .env file may not set. */
  rejected: readonly string[];
}

function readEnvFile(source: EnvFileSource | undefined): EnvFile {
  const path = join(source?.folder ?? '', '.env');
  if (source === undefined) return { path, env: {}, rejected: [] };
  try {
    const text = readRegularFile(path, fileBytesMax);
    recordConsulted(path, text);
    const variables = Object.entries(parseEnv(text.replace(byteOrderMark, '')));
    const isAllowed = ([name]: readonly [string, unknown]) => source.variables.includes(name);
    const rejected = variables.filter((variable) => !isAllowed(variable)).map(([name]) => name);
    return { path, env: Object.fromEntries(variables.filter(isAllowed)), rejected };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') {
      recordConsulted(path, undefined);
      return { path, env: {}, rejected: [] };
    }
    const message = `Can't read the .env file in ${source.folder}. Make it a file that you may read, or start in another folder.`;
    throw new CarrelError('invalid_config', message, { cause: error });
  }
}

/** Warns about rejected variables that are settings of Carrel. Others belong to other programs. */
function rejectedWarning({ path, rejected }: EnvFile, slices: readonly Slice[]): string[] {
  const variables = new Set(slices.flatMap(({ fields }) => Object.values(fields).flatMap(({ env }) => env)));
  const names = rejected.filter((name) => variables.has(name) || dataDirVariables.includes(name));
  if (names.length === 0) return [];
  return [`${path}: ${names.join(', ')} can't be set in a .env file. Set it in the environment or in config.json.`];
}
