import { choice, defineSlice, httpUrl, integer, list, type SliceValues, secret } from '../../config/field.ts';

const gibibyte = 1024 ** 3;

/** The variables of 003, and the bounds of what it leaves open. */
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
    description: 'The key that the engine at that address wants.',
  }),
  engineTimeoutMs: integer({
    default: 30_000,
    min: 100,
    max: 600_000,
    env: ['KB_ENGINE_TIMEOUT_MS'],
    description: 'How long the engine at that address may take to answer; for a file, how long it may stand still.',
  }),
  publicUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['KB_MCP_PUBLIC_URL'],
    description: 'How clients reach this server, where a proxy stands before it: what upload_url begins with.',
  }),
  allowedRoots: list({
    default: [],
    env: ['KB_ALLOWED_ROOTS'],
    description: 'Folders whose files kb_upload_start may take by their path. On stdio only.',
  }),
  uploadBytesMax: integer({
    default: 64 * 1024 * 1024,
    min: 1024,
    max: 64 * gibibyte,
    env: ['KB_UPLOAD_BYTES_MAX'],
    description: 'The largest file that can be uploaded, in bytes. The engine has a bound of its own.',
  }),
  // Agents that share a token, or a machine without one, are one client.
  uploadsPerClient: integer({
    default: 100,
    min: 1,
    max: 10_000,
    env: ['KB_UPLOADS_PER_CLIENT'],
    description: 'Unfinished uploads that one client may have.',
  }),
  uploadBytesPerClient: integer({
    default: gibibyte,
    min: 1024,
    max: 1024 * gibibyte,
    env: ['KB_UPLOAD_BYTES_PER_CLIENT'],
    description: 'Bytes that the unfinished uploads of one client may have together.',
  }),
  uploadsMax: integer({
    default: 500,
    min: 1,
    max: 100_000,
    env: ['KB_UPLOADS_MAX'],
    description: 'Unfinished uploads of all clients.',
  }),
  stagingBytesMax: integer({
    default: 4 * gibibyte,
    min: 1024,
    max: 1024 * gibibyte,
    env: ['KB_STAGING_BYTES_MAX'],
    description: 'Bytes that all unfinished uploads may have together.',
  }),
  uploadIdleSeconds: integer({
    default: 600,
    min: 1,
    max: 86_400,
    env: ['KB_UPLOAD_IDLE_SECONDS'],
    description: 'An upload of which nothing is heard so long is removed.',
  }),
  keepUploads: choice(['auto', 'true', 'false'], {
    default: 'auto',
    env: ['KB_KEEP_UPLOADS'],
    description:
      'Whether unfinished uploads survive a restart. auto: when the engine runs in this process; before another one they are lost, as 003 has it.',
  }),
});

export type KbConfig = SliceValues<typeof kbSlice>;
