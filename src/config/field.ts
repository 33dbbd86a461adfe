import { maskAddress, registerAddress, Secret } from '../base/secret.ts';

/** One setting: how to read it from text or JSON, its sources, and its purpose. */
export interface Field<Value> {
  /** The accepted values, for the configuration page, such as `integer 1…65535`. */
  readonly kind: string;
  readonly default: Value;
  readonly env: readonly string[];
  /** Command-line flag, without dashes. */
  readonly flag?: string;
  /** Flags that each add their own name to a list. */
  readonly flags?: readonly string[];
  readonly description: string;
  readonly secret: boolean;
  /** True rejects an empty variable, which otherwise means "not set": an empty token would silently disable a check. */
  readonly refusesEmpty?: boolean;
  /** True if the value is a file or folder. A relative path is resolved against the current folder. */
  readonly isPath?: PathTest;
  /** Hides a secret that the value may contain, for printing. */
  mask?(value: string): string;
  /** Accepts a value from a JSON file or environment variable; throws a `ConfigFault` that says what is expected. */
  read(raw: unknown): Value;
}

export interface FieldOptions<Value> {
  default: Value;
  description: string;
  env?: readonly string[];
  flag?: string;
  isPath?: PathTest;
}

/** True if a setting is a path, or a function that decides this from all settings of the slice. */
export type PathTest = boolean | ((settings: Readonly<Record<string, unknown>>) => boolean);

/** The error for an invalid value. `loadConfig` adds where the value came from. */
export class ConfigFault extends Error {
  override readonly name = 'ConfigFault';
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The settings of one area, declared next to the code that they configure. */
export interface Slice<F extends Fields = Fields> {
  readonly name: string;
  readonly title: string;
  readonly fields: F;
}

export type SliceValues<S extends Slice> = {
  readonly [Key in keyof S['fields']]: S['fields'][Key] extends Field<infer Value> ? Value : never;
};

export function defineSlice<F extends Fields>(name: string, title: string, fields: F): Slice<F> {
  return { name, title, fields };
}

export function text(options: FieldOptions<string>): Field<string> {
  return field('text', options, (raw) => {
    if (typeof raw !== 'string') throw new ConfigFault('must be text');
    return raw;
  });
}

/** The path of a URL, such as `/mcp`. */
export function urlPath(options: FieldOptions<string>): Field<string> {
  return field('path of a URL', options, (raw) => {
    if (typeof raw !== 'string' || !/^\/[\w.~/-]*$/.test(raw)) {
      throw new ConfigFault('must start with a slash and contain only letters, digits and - . _ ~ /');
    }
    return raw;
  });
}

/** The address of a service, in any form that the service's own programs accept. */
export function addressText(options: FieldOptions<string>): Field<string> {
  const base = text(options);
  return {
    ...base,
    mask: maskAddress,
    read(raw) {
      const address = base.read(raw);
      registerAddress(address);
      return address;
    },
  };
}

export function optionalText(options: Omit<FieldOptions<undefined>, 'default'>): Field<string | undefined> {
  return field<string | undefined>('text', { ...options, default: undefined }, (raw) => {
    if (typeof raw !== 'string' || raw === '') throw new ConfigFault('must be text, and not empty');
    return raw;
  });
}

/** The address of a service that the operator chose. Credentials belong in separate secret fields. */
export function httpUrl<Default extends string | undefined>(
  options: FieldOptions<Default>,
): Field<Default extends string ? string : string | undefined>;
export function httpUrl(options: FieldOptions<string | undefined>): Field<string | undefined> {
  const base = field<string | undefined>('http or https URL', options, (raw) => {
    if (typeof raw === 'string') registerAddress(raw.trim());
    const url = typeof raw === 'string' ? URL.parse(raw.trim()) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) throw new ConfigFault('must be an http or https URL');
    if (url.username !== '' || url.password !== '') throw new ConfigFault('must not contain a user name or password');
    return String(raw).trim();
  });
  return { ...base, mask: maskAddress };
}

/** The value of a request header: printable ASCII only, so that it cannot contain a line break. */
export function headerText(options: FieldOptions<string>): Field<string> {
  return field('printable ASCII text', options, (raw) => {
    if (typeof raw === 'string' && /^[\x20-\x7e]{1,1024}$/.test(raw)) return raw;
    throw new ConfigFault('must be 1 to 1024 printable ASCII characters');
  });
}

export function integer(options: FieldOptions<number> & { min: number; max: number }): Field<number> {
  const { min, max } = options;
  return field(`integer ${min}…${max}`, options, (raw) => {
    const value = typeof raw === 'string' && /^\s*-?\d+\s*$/.test(raw) ? Number(raw) : raw;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
      throw new ConfigFault(`must be an integer from ${min} to ${max}`);
    }
    return value;
  });
}

export const yesWords = ['true', '1', 'yes', 'on'];
export const noWords = ['false', '0', 'no', 'off'];

export function toggle(options: FieldOptions<boolean>): Field<boolean> {
  return field('true or false', options, (raw) => {
    if (typeof raw === 'boolean') return raw;
    const word = typeof raw === 'string' ? raw.trim().toLowerCase() : '';
    if (yesWords.includes(word)) return true;
    if (noWords.includes(word)) return false;
    throw new ConfigFault('must be true or false');
  });
}

/** `aliases`: other spellings of some values. */
export function choice<const Value extends string>(
  values: readonly Value[],
  options: FieldOptions<NoInfer<Value>> & { aliases?: Readonly<Record<string, NoInfer<Value>>> },
): Field<Value> {
  const aliases = new Map(Object.entries(options.aliases ?? {}));
  return field(alternatives(values), options, (raw) => {
    const match = values.find((value) => value === (aliases.get(String(raw)) ?? raw));
    if (match === undefined) throw new ConfigFault(`must be one of ${values.join(', ')}`);
    return match;
  });
}

/** Returns `a, b or c`. */
function alternatives(values: readonly string[]): string {
  return values.join(', ').replace(/, (?!.*, )/, ' or ');
}

/** Values separated by commas, or a JSON array of strings. */
export function list(options: FieldOptions<readonly string[]>): Field<readonly string[]> {
  return field('values separated by commas', options, (raw) => {
    const items = typeof raw === 'string' ? raw.split(',').map((item) => item.trim()) : raw;
    if (!Array.isArray(items) || items.some((item) => typeof item !== 'string')) {
      throw new ConfigFault('must be values separated by commas, or an array of strings');
    }
    return items.filter((item) => item !== '');
  });
}

/** A list of one or more of these values. Each value is also a flag. */
export function someOf<const Value extends string>(
  values: readonly Value[],
  options: Omit<FieldOptions<readonly Value[]>, 'flag'>,
): Field<readonly Value[]> {
  const names = list({ ...options, default: [] });
  return {
    ...field('values separated by commas', options, (raw) => {
      const chosen = names.read(raw);
      const hasUnknown = chosen.some((name) => !values.some((value) => value === name));
      if (hasUnknown || chosen.length === 0) throw new ConfigFault(`must contain one or more of ${values.join(', ')}`);
      return values.filter((value) => chosen.includes(value));
    }),
    flags: values,
  };
}

/** A password, token or key. Its value can't be printed. */
export function secret(
  options: Omit<FieldOptions<undefined>, 'default'> & { refusesEmpty?: boolean },
): Field<Secret | undefined> {
  const base = field<Secret | undefined>('secret text', { ...options, default: undefined }, (raw) => {
    if (typeof raw !== 'string' || raw.trim() === '') throw new ConfigFault('must be text, and not blank');
    registerAddress(raw.trim());
    return new Secret(raw.trim());
  });
  return { ...base, secret: true, refusesEmpty: options.refusesEmpty === true };
}

function field<Value>(kind: string, options: FieldOptions<Value>, read: (raw: unknown) => Value): Field<Value> {
  const { flag, env = [], description, isPath = false } = options;
  return { kind, default: options.default, env, description, secret: false, isPath, read, ...(flag ? { flag } : {}) };
}
