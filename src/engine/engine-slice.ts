import { defineSlice, integer, list, type SliceValues, someOf } from '../config/field.ts';

/** What an engine can do: `ingest` turns submissions into documents, `embed` creates vectors, `search` answers searches. */
export const engineRoles = ['ingest', 'embed', 'search'] as const;
export type EngineRole = (typeof engineRoles)[number];

export const engineSlice = defineSlice('engine', 'Knowledge base engine', {
  roles: someOf(engineRoles, {
    default: engineRoles,
    env: ['KB_ROLES'],
    description:
      'What the engine in this process does: `ingest` (turns submitted files into documents), `embed` (creates their vectors), `search` (answers searches). Other processes on the same database must have the remaining roles.',
  }),
  workers: integer({
    default: 2,
    min: 1,
    max: 64,
    env: ['KB_WORKERS'],
    description: 'Max files ingested at the same time.',
  }),
  defaultTop: integer({
    default: 10,
    min: 1,
    max: 100,
    env: ['KB_DEFAULT_TOP'],
    description: 'Default number of search results.',
  }),
  bulkSafetyPercent: integer({
    default: 70,
    min: 0,
    max: 100,
    env: ['KB_BULK_SAFETY_PERCENT'],
    description: 'A bulk operation on more than this percentage of all documents needs `force`.',
  }),
  fileBytesMax: integer({
    default: 64 * 1024 * 1024,
    min: 1024,
    max: 1024 * 1024 * 1024,
    env: ['KB_FILE_BYTES_MAX'],
    description: 'Max size of a file, in bytes.',
  }),
  textCharsMax: integer({
    default: 10_000_000,
    min: 10_000,
    max: 50_000_000,
    env: ['KB_TEXT_CHARS_MAX'],
    description:
      "Max characters of a document's text. Longer texts are truncated, and the document is marked as truncated.",
  }),
  jobsKeptDays: integer({
    default: 30,
    min: 1,
    max: 36_500,
    env: ['KB_JOBS_KEPT_DAYS'],
    description: 'Days after which finished jobs are removed. Finished jobs are also the history of changes.',
  }),
  jobsKeptMax: integer({
    default: 1_000_000,
    min: 100,
    max: 100_000_000,
    env: ['KB_JOBS_KEPT_MAX'],
    description: 'Max finished jobs to keep. The oldest are removed first.',
  }),
  deletedBytesMax: integer({
    default: 1024 * 1024 * 1024,
    min: 0,
    max: 1024 ** 4,
    env: ['KB_DELETED_BYTES_MAX'],
    description:
      'Max total bytes of deleted documents, which can be restored for 30 days. The oldest are removed first. With 0, deletions are final.',
  }),
  extractCpuMs: integer({
    default: 300_000,
    min: 1_000,
    max: 3_600_000,
    env: ['KB_EXTRACT_CPU_MS', 'KB_EXTRACT_TIMEOUT_MS'],
    description:
      'Max CPU time to extract the text of one file, in milliseconds. After that, a file with pages or sheets is truncated and marked as truncated. Other files fail.',
  }),
  ocrLanguages: list({
    default: ['eng'],
    env: ['KB_OCR_LANGUAGES'],
    description:
      'Languages of text in images and scanned pages, as Tesseract names them (`eng`, `deu`, `fra`). Each requires its package `@tesseract.js-data/…`. If empty, OCR is off.',
  }),
  extractMemoryMb: integer({
    default: 512,
    min: 128,
    max: 8192,
    env: ['KB_EXTRACT_MEMORY_MB'],
    description: 'Max memory to extract the text of one file, in MB. A file that needs more fails.',
  }),
});

export type EngineSettings = SliceValues<typeof engineSlice>;
