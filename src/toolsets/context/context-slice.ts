import { automatic } from '../../config/automatic.ts';
import {
  ConfigFault,
  choice,
  defineSlice,
  type Field,
  integer,
  list,
  optionalText,
  type SliceValues,
  toggle,
} from '../../config/field.ts';
import { indexModes } from '../../storage/entries/entry.ts';
import { fieldTypes, parseIndexedField } from '../../storage/entries/field-index.ts';

/** Shorter entries get no summary, unless it is configured otherwise. */
export const summaryCharsMin = 500;

/** Names and limits are those of the server whose interface this is (seed 002). */
export const contextSlice = defineSlice('context', 'Context store', {
  semanticSearch: automatic({
    env: ['ENABLE_SEMANTIC_SEARCH'],
    description: 'Whether semantic_search_context is offered. auto: when there is an embedding provider.',
  }),
  fullTextSearch: automatic({
    env: ['ENABLE_FTS'],
    description: 'Whether fts_search_context is offered. auto: yes.',
  }),
  hybridSearch: automatic({
    env: ['ENABLE_HYBRID_SEARCH'],
    description: 'Whether hybrid_search_context is offered. auto: when one of the other two is.',
  }),
  summaries: automatic({
    env: ['ENABLE_SUMMARY_GENERATION'],
    description: 'Whether long entries get a summary, made in the background. auto: yes.',
  }),
  summaryProvider: choice(['extractive', 'ollama', 'openai'], {
    default: 'extractive',
    env: ['SUMMARY_PROVIDER'],
    description:
      'What makes summaries: the best sentences of the text itself, or a model on the Ollama or OpenAI-compatible server (OLLAMA_HOST; OPENAI_API_BASE, OPENAI_API_KEY).',
  }),
  summaryModel: optionalText({
    env: ['SUMMARY_MODEL'],
    description: 'The name of the model on the server. By default qwen3:0.6b or gpt-4o-mini.',
  }),
  summaryTimeoutSeconds: integer({
    default: 240,
    min: 1,
    max: 600,
    env: ['SUMMARY_TIMEOUT_S'],
    description: 'How long one request for a summary may take, in seconds.',
  }),
  summaryAttempts: integer({
    default: 5,
    min: 1,
    max: 10,
    env: ['SUMMARY_RETRY_MAX_ATTEMPTS'],
    description: 'How often a request for a summary is tried before the server is left alone for a while.',
  }),
  summaryBackOffSeconds: integer({
    default: 3,
    min: 0,
    max: 30,
    env: ['SUMMARY_RETRY_BASE_DELAY_S'],
    description: 'The pause before the second attempt, in seconds; each further pause is twice as long, up to ten.',
  }),
  summaryConcurrency: integer({
    default: 2,
    min: 1,
    max: 20,
    env: ['SUMMARY_MAX_CONCURRENT'],
    description: 'How many requests for summaries may run at the same time.',
  }),
  summaryPrompt: optionalText({
    env: ['SUMMARY_PROMPT'],
    description:
      'Instructions for the model, instead of the built-in ones. It is told in any case that the text is data.',
  }),
  summaryContextTokens: integer({
    default: 32_768,
    min: 1024,
    max: 1_048_576,
    env: ['SUMMARY_OLLAMA_NUM_CTX'],
    description: 'The context length of the model, in tokens.',
  }),
  summaryCutsLongTexts: toggle({
    default: false,
    env: ['SUMMARY_OLLAMA_TRUNCATE'],
    description: 'Whether a text that is longer than that is truncated. If not, its own sentences are its summary.',
  }),
  summaryReasoningEffort: optionalText({
    env: ['SUMMARY_OPENAI_REASONING_EFFORT'],
    description: 'The reasoning effort of an OpenAI reasoning model (low, medium, high). Leave it out for others.',
  }),
  summaryMinChars: integer({
    default: summaryCharsMin,
    min: 0,
    max: 10_000,
    env: ['SUMMARY_MIN_CONTENT_LENGTH'],
    description: 'Shorter entries get no summary.',
  }),
  summaryMaxTokens: integer({
    default: 2000,
    min: 50,
    max: 16_384,
    env: ['SUMMARY_MAX_TOKENS'],
    description: 'The maximum length of a summary.',
  }),
  indexedFields: fieldNames({
    default: ['status', 'agent_name', 'task_name', 'project', 'report_type', 'references:object', 'technologies:array'],
    env: ['METADATA_INDEXED_FIELDS'],
    description:
      'The metadata fields to index: name or name:type; dots reach into objects; an array is indexed with its members, an object with everything in it; * means all. Filters on other fields read the metadata.',
  }),
  indexSyncMode: choice(indexModes, {
    default: 'additive',
    env: ['METADATA_INDEX_SYNC_MODE'],
    description:
      'If the database has other fields indexed: strict refuses to start, warn logs it, auto rebuilds the index, additive only adds to it.',
  }),
  chunking: toggle({
    default: true,
    env: ['ENABLE_CHUNKING'],
    description: 'Whether long texts are embedded in parts, each found by itself.',
  }),
  chunkChars: integer({
    // The best value by the measurements in search/meaning/passage-vectors.
    default: 200,
    min: 100,
    max: 10_000,
    env: ['CHUNK_SIZE'],
    description:
      'About how many characters such a part has. Texts are split between sentences, and what would be fewer than three parts stays whole. Applies to texts that are embedded from now on.',
  }),
  chunkOverlapChars: integer({
    default: 0,
    min: 0,
    max: 500,
    env: ['CHUNK_OVERLAP'],
    description:
      'Accepted without effect: parts do not overlap, because the vector of each includes a share of the whole text.',
  }),
  chunkAggregation: choice(['max'], {
    default: 'max',
    env: ['CHUNK_AGGREGATION'],
    description: 'How parts are combined: an entry is as near as its nearest part. There is no other value.',
  }),
  truncationChars: integer({
    default: 300,
    min: 50,
    max: 1000,
    env: ['SEARCH_TRUNCATION_LENGTH'],
    description: 'How many characters of an entry a search shows.',
  }),
  rrfK: integer({
    default: 60,
    min: 1,
    max: 1000,
    env: ['HYBRID_RRF_K'],
    description: 'The constant of reciprocal rank fusion, unless a call sets its own.',
  }),
  imageMaxMb: integer({
    default: 10,
    min: 1,
    max: 100,
    env: ['MAX_IMAGE_SIZE_MB'],
    description: 'The maximum size of one image, decoded.',
  }),
  imagesMaxMb: integer({
    default: 100,
    min: 1,
    max: 1000,
    env: ['MAX_TOTAL_SIZE_MB'],
    description: 'The maximum size of all images of an entry, decoded.',
  }),
});

export type ContextConfig = SliceValues<typeof contextSlice>;

/** Names of fields, each as field-index reads it. */
function fieldNames(options: Parameters<typeof list>[0]): Field<readonly string[]> {
  const names = list(options);
  return {
    ...names,
    read(raw) {
      const given = names.read(raw);
      const wrong = given.find((name) => parseIndexedField(name) === undefined);
      if (wrong === undefined) return given;
      throw new ConfigFault(
        `must be *, names of fields, or names with one of the types ${fieldTypes.join(', ')} behind a colon`,
      );
    },
  };
}
