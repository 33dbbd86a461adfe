import { choice, defineSlice, httpUrl, integer, list, type SliceValues, secret } from '../../config/field.ts';

const gibibyte = 1024 ** 3;

/** The variables of the original kb MCP server, and limits that it does not have. */
export const kbSlice = defineSlice('kb', 'Knowledge base tools', {
  engineUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['KB_ENGINE_URL'],
    description:
      'The URL of a separate knowledge base engine, such as http://engine:8000. By default the engine runs in this process.',
  }),
  apiKey: secret({
    env: ['KB_API_KEY'],
    refusesEmpty: true,
    description: 'The API key for the separate engine.',
  }),
  engineTimeoutMs: integer({
    default: 30_000,
    min: 100,
    max: 600_000,
    env: ['KB_ENGINE_TIMEOUT_MS'],
    description:
      'Timeout for answers of the separate engine, in milliseconds. For file transfers, the max time without progress.',
  }),
  publicUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['KB_MCP_PUBLIC_URL'],
    description: 'The URL that clients use for this server, if it is behind a proxy. It appears in upload_url.',
  }),
  allowedRoots: list({
    default: [],
    flag: 'allow',
    env: ['KB_ALLOWED_ROOTS'],
    isPath: true,
    description:
      "Folders whose files kb_add and kb_upload_start may read by path, besides the client's roots. Works only on stdio.",
  }),
  uploadBytesMax: integer({
    default: 64 * 1024 * 1024,
    min: 1024,
    max: 64 * gibibyte,
    env: ['KB_UPLOAD_BYTES_MAX'],
    description: 'Max size of an uploaded file, in bytes. `engine.fileBytesMax` also applies.',
  }),
  // Agents with the same token count as one client. So do all agents without a token on one machine.
  uploadsPerClient: integer({
    default: 100,
    min: 1,
    max: 10_000,
    env: ['KB_UPLOADS_PER_CLIENT'],
    description: 'Max unfinished uploads per client.',
  }),
  uploadBytesPerClient: integer({
    default: gibibyte,
    min: 1024,
    max: 1024 * gibibyte,
    env: ['KB_UPLOAD_BYTES_PER_CLIENT'],
    description: "Max total bytes of a client's unfinished uploads.",
  }),
  uploadsMax: integer({
    default: 500,
    min: 1,
    max: 100_000,
    env: ['KB_UPLOADS_MAX'],
    description: 'Max unfinished uploads of all clients.',
  }),
  stagingBytesMax: integer({
    default: 4 * gibibyte,
    min: 1024,
    max: 1024 * gibibyte,
    env: ['KB_STAGING_BYTES_MAX'],
    description: 'Max total bytes of all unfinished uploads.',
  }),
  uploadIdleSeconds: integer({
    default: 600,
    min: 1,
    max: 86_400,
    env: ['KB_UPLOAD_IDLE_SECONDS'],
    description: 'Idle time after which an upload expires, in seconds.',
  }),
  keepUploads: choice(['auto', 'true', 'false'], {
    default: 'auto',
    env: ['KB_KEEP_UPLOADS'],
    description:
      'Whether unfinished uploads survive a restart. auto means yes if the engine runs in this process, and no with a separate engine.',
  }),
});

export type KbConfig = SliceValues<typeof kbSlice>;
