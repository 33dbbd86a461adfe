import { choice, defineSlice, httpUrl, integer, list, type SliceValues, secret } from '../../config/field.ts';

const gibibyte = 1024 ** 3;

/** The variables of 003, and limits for what it leaves open. */
export const kbSlice = defineSlice('kb', 'Knowledge base tools', {
  engineUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['KB_ENGINE_URL'],
    description:
      'The address of the kb engine, such as http://engine:8000. Without one the engine runs in this process.',
  }),
  apiKey: secret({
    env: ['KB_API_KEY'],
    refusesEmpty: true,
    description: 'The API key for the engine at that address.',
  }),
  engineTimeoutMs: integer({
    default: 30_000,
    min: 100,
    max: 600_000,
    env: ['KB_ENGINE_TIMEOUT_MS'],
    description: 'How long the engine at that address may take to answer; for a file, how long the transfer may stall.',
  }),
  publicUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['KB_MCP_PUBLIC_URL'],
    description: 'The address under which clients reach this server, if it is behind a proxy: the start of upload_url.',
  }),
  allowedRoots: list({
    default: [],
    flag: 'allow',
    env: ['KB_ALLOWED_ROOTS'],
    isPath: true,
    description:
      "Folders whose files kb_add and kb_upload_start may read by path, beside the client's own roots. On stdio only.",
  }),
  uploadBytesMax: integer({
    default: 64 * 1024 * 1024,
    min: 1024,
    max: 64 * gibibyte,
    env: ['KB_UPLOAD_BYTES_MAX'],
    description: 'The largest file that can be uploaded, in bytes. The engine has its own limit.',
  }),
  // Agents that share a token, or a machine without one, are one client.
  uploadsPerClient: integer({
    default: 100,
    min: 1,
    max: 10_000,
    env: ['KB_UPLOADS_PER_CLIENT'],
    description: 'How many unfinished uploads one client may have.',
  }),
  uploadBytesPerClient: integer({
    default: gibibyte,
    min: 1024,
    max: 1024 * gibibyte,
    env: ['KB_UPLOAD_BYTES_PER_CLIENT'],
    description: 'How many bytes the unfinished uploads of one client may have in total.',
  }),
  uploadsMax: integer({
    default: 500,
    min: 1,
    max: 100_000,
    env: ['KB_UPLOADS_MAX'],
    description: 'How many unfinished uploads all clients may have.',
  }),
  stagingBytesMax: integer({
    default: 4 * gibibyte,
    min: 1024,
    max: 1024 * gibibyte,
    env: ['KB_STAGING_BYTES_MAX'],
    description: 'How many bytes all unfinished uploads may have in total.',
  }),
  uploadIdleSeconds: integer({
    default: 600,
    min: 1,
    max: 86_400,
    env: ['KB_UPLOAD_IDLE_SECONDS'],
    description: 'An upload without activity for this long is removed.',
  }),
  keepUploads: choice(['auto', 'true', 'false'], {
    default: 'auto',
    env: ['KB_KEEP_UPLOADS'],
    description:
      'Whether unfinished uploads survive a restart. auto: if the engine runs in this process; with another engine they are lost, as in 003.',
  }),
});

export type KbConfig = SliceValues<typeof kbSlice>;
