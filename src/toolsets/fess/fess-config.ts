import * as z from 'zod';
import { version } from '../../base/package-info.ts';
import { Secret } from '../../base/secret.ts';

/** The configuration file of the Fess bridge. It has the fields of the MCP-Fess specification, and a few more. */
export const fessConfigSchema = z.object(
  {
    fessBaseUrl: z.string(required('must be the http or https URL of Fess')).refine(isWebUrl, {
      error: 'must be an http or https URL, such as http://localhost:8080',
    }),
    fessApi: oneOf(['auto', 'v1', 'v2'], 'auto'),
    fessAccessToken: secretText().optional(),
    domain: domainSchema().optional(),
    domains: z.array(domainSchema(), { error: 'must be an array of domains' }).optional(),
    httpTransport: section({
      bindAddress: line(255).default('127.0.0.1'),
      port: integer(0, 65_535, 0),
      path: z
        .string(required('must be a path such as /mcp'))
        .regex(/^\/[\w./-]{0,200}$/, {
          error: 'must begin with a slash and contain only letters, digits, dots and hyphens',
        })
        .default('/mcp'),
      enableSse: toggle(true),
    }),
    timeouts: section({
      fessRequestTimeoutMs: integer(1, 3_600_000, 30_000),
      longRunningThresholdMs: integer(0, 3_600_000, 2_000),
    }),
    limits: section({
      // Fess silently limits pages to 100 results.
      maxPageSize: integer(1, 100, 100),
      // At least 4, because a character has up to four bytes and is never split.
      maxChunkBytes: integer(4, 64 * 1024 * 1024, 262_144),
      maxInFlightRequests: integer(1, 10_000, 32),
    }),
    logging: section({
      level: oneOf(['error', 'warn', 'info', 'debug'], 'info'),
      retainDays: integer(1, 36_500, 7),
    }),
    security: section({
      httpAuthToken: secretText().optional(),
      allowNonLocalhostBind: toggle(false),
      // A second spelling, which the MCP-Fess acceptance tests use.
      allowNonlocalhostBind: toggle(false),
    }),
    contentFetch: section({
      enabled: toggle(true),
      maxBytes: integer(1, 1024 * 1024 * 1024, 5 * 1024 * 1024),
      timeoutMs: integer(1, 3_600_000, 20_000),
      allowedSchemes: z
        .array(z.enum(['http', 'https'], { error: 'must be http or https' }), { error: 'must be an array' })
        .default(['http', 'https']),
      allowPrivateNetworkTargets: toggle(false),
      allowedHostAllowlist: z.array(line(255), { error: 'must be an array of host names' }).default([]),
      userAgent: z
        .string(required('must be text'))
        .regex(/^[\x20-\x7e]{1,500}$/, { error: 'must be 1 to 500 printable ASCII characters' })
        .default(`carrel/${version}`),
      enablePdf: toggle(false),
      viaFess: toggle(false),
    }),
  },
  { error: 'must be an object' },
);

export type FessSettings = z.output<typeof fessConfigSchema>;
export type DomainSettings = z.output<ReturnType<typeof domainSchema>>;

function domainSchema() {
  return z.object(
    {
      id: line(100),
      name: line(200),
      description: z
        .string({ error: 'must be text' })
        .max(4000, { error: 'must be at most 4000 characters' })
        .optional(),
      labelFilter: z
        .string(required('must be the value of a Fess label'))
        // A quote or backslash would end Fess's filter.
        .regex(/^[A-Za-z0-9_.-]{1,100}$/, { error: 'must be 1 to 100 letters, digits, underscores, dots or hyphens' }),
    },
    { error: 'must be an object with id, name and labelFilter' },
  );
}

/** An optional section whose fields all have defaults. */
function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape, { error: 'must be an object' }).prefault({} as z.input<z.ZodObject<Shape>>);
}

function integer(min: number, max: number, defaultValue: number) {
  const error = `must be an integer from ${min} to ${max}`;
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error }).default(defaultValue);
}

function toggle(defaultValue: boolean) {
  return z.boolean({ error: 'must be true or false' }).default(defaultValue);
}

function oneOf<const Value extends string>(values: readonly Value[], defaultValue: NoInfer<Value>) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` }).default(defaultValue as never);
}

function line(charsMax: number) {
  const error = `must be 1 to ${charsMax} characters on one line`;
  return z
    .string(required(error))
    .regex(new RegExp(`^(?=.*[^\\s\\p{Cf}])[^\\p{Cc}\\p{Zl}\\p{Zp}]{1,${charsMax}}$`, 'u'), { error });
}

/** A token, from the file or the environment. */
export function secretText() {
  return z
    .string({ error: 'must be text' })
    .regex(/^[\x21-\x7e]{1,4096}$/, { error: 'must be printable ASCII characters without blanks' })
    .transform((text) => new Secret(text));
}

function required(error: string) {
  return { error: ({ input }: { input?: unknown }) => (input === undefined ? `is missing: it ${error}` : error) };
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
}
