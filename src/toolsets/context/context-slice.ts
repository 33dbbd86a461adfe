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
import { fieldTypes, parseIndexedField } from '../../storage/entries/field-index.ts';
import { indexModes } from '../../storage/entries/indexed-fields.ts';

/** Default min length of entries that get a summary, in characters. */
export const summaryCharsMin = 500;

/** Settings of the context toolset, with the variable names and limits of mcp-context-server. */
export const contextSlice = defineSlice('context', 'Context store', {
  semanticSearch: automatic({
    env: ['ENABLE_SEMANTIC_SEARCH'],
    description: 'Offer semantic_search_context. auto means yes if there is an embedding provider.',
  }),
  fullTextSearch: automatic({
    env: ['ENABLE_FTS'],
    description: 'Offer fts_search_context. auto means yes.',
  }),
  hybridSearch: automatic({
    env: ['ENABLE_HYBRID_SEARCH'],
    description:
      'Offer hybrid_search_context. auto means yes if semantic_search_context or fts_search_context is offered.',
  }),
  summaries: automatic({
    env: ['ENABLE_SUMMARY_GENERATION'],
    description: 'Summarize long entries in the background. auto means yes.',
  }),
  summaryProvider: choice(['extractive', 'ollama', 'openai'], {
    default: 'extractive',
    env: ['SUMMARY_PROVIDER'],
    description:
      'How summaries are made. extractive picks the most important sentences of the text. ollama and openai ask a model on a server (OLLAMA_HOST; OPENAI_API_BASE and OPENAI_API_KEY).',
  }),
  summaryModel: optionalText({
    env: ['SUMMARY_MODEL'],
    description: 'The model that writes summaries. The default is qwen3:0.6b for ollama and gpt-4o-mini for openai.',
  }),
  summaryTimeoutSeconds: integer({
    default: 240,
    min: 1,
    max: 600,
    env: ['SUMMARY_TIMEOUT_S'],
    description: 'Timeout of one summary request, in seconds.',
  }),
  summaryAttempts: integer({
    default: 5,
    min: 1,
    max: 10,
    env: ['SUMMARY_RETRY_MAX_ATTEMPTS'],
    description: 'Max attempts per summary request. If all fail, summaries pause temporarily.',
  }),
  summaryBackOffSeconds: integer({
    default: 3,
    min: 0,
    max: 30,
    env: ['SUMMARY_RETRY_BASE_DELAY_S'],
    description:
      'Pause before the second attempt, in seconds. It doubles with each further attempt, up to ten seconds.',
  }),
  summaryConcurrency: integer({
    default: 2,
    min: 1,
    max: 20,
    env: ['SUMMARY_MAX_CONCURRENT'],
    description: 'Max concurrent summary requests.',
  }),
  summaryPrompt: optionalText({
    env: ['SUMMARY_PROMPT'],
    description:
      'Replaces the built-in instructions for the model. Carrel always adds that the text is data, not instructions.',
  }),
  summaryContextTokens: integer({
    default: 32_768,
    min: 1024,
    max: 1_048_576,
    env: ['SUMMARY_OLLAMA_NUM_CTX'],
    description: 'The context length of the model that writes summaries, in tokens.',
  }),
  summaryCutsLongTexts: toggle({
    default: false,
    env: ['SUMMARY_OLLAMA_TRUNCATE'],
    description:
      'Truncate texts that exceed `context.summaryContextTokens`. If false, they get an extractive summary instead.',
  }),
  summaryReasoningEffort: optionalText({
    env: ['SUMMARY_OPENAI_REASONING_EFFORT'],
    description:
      'The reasoning effort of an OpenAI reasoning model: low, medium or high. Leave it unset for other models.',
  }),
  summaryMinChars: integer({
    default: summaryCharsMin,
    min: 0,
    max: 10_000,
    env: ['SUMMARY_MIN_CONTENT_LENGTH'],
    description: 'Min length of entries that get a summary, in characters.',
  }),
  summaryMaxTokens: integer({
    default: 2000,
    min: 50,
    max: 16_384,
    env: ['SUMMARY_MAX_TOKENS'],
    description: 'Max length of a summary, in tokens.',
  }),
  indexedFields: fieldNames({
    default: ['status', 'agent_name', 'task_name', 'project', 'report_type', 'references:object', 'technologies:array'],
    env: ['METADATA_INDEXED_FIELDS'],
    description:
      'Metadata fields to index, as name or name:type. A dot names a field of an object, as in a.b. Arrays are indexed by member. The type object also indexes all fields inside the object. * means all fields. Filters on other fields are slower.',
  }),
  indexSyncMode: choice(indexModes, {
    default: 'additive',
    env: ['METADATA_INDEX_SYNC_MODE'],
    description:
      'What to do if the database indexes different fields. strict refuses to start, warn logs a warning, auto rebuilds the index, additive adds missing fields.',
  }),
  chunking: toggle({
    default: true,
    env: ['ENABLE_CHUNKING'],
    description: 'Split long texts into parts, each with its own vector.',
  }),
  chunkChars: integer({
    // The best value in our measurements; see search/meaning/passage-vectors.ts.
    default: 200,
    min: 100,
    max: 10_000,
    env: ['CHUNK_SIZE'],
    description:
      'Approximate characters per part. Texts are split between sentences; texts shorter than three parts are not split. A change applies to texts that are embedded later.',
  }),
  chunkOverlapChars: integer({
    default: 0,
    min: 0,
    max: 500,
    env: ['CHUNK_OVERLAP'],
    description: "Ignored; accepted for compatibility with mcp-context-server. Parts don't overlap.",
  }),
  chunkAggregation: choice(['max'], {
    default: 'max',
    env: ['CHUNK_AGGREGATION'],
    description: 'How the scores of the parts are combined. Only max is supported: the score of the best part.',
  }),
  truncationChars: integer({
    default: 300,
    min: 50,
    max: 1000,
    env: ['SEARCH_TRUNCATION_LENGTH'],
    description: 'Max characters of an entry in search results.',
  }),
  rrfK: integer({
    default: 60,
    min: 1,
    max: 1000,
    env: ['HYBRID_RRF_K'],
    description: 'The constant k of reciprocal rank fusion, for calls that do not set it.',
  }),
  imageMaxMb: integer({
    default: 10,
    min: 1,
    max: 100,
    env: ['MAX_IMAGE_SIZE_MB'],
    description: 'Max size of one decoded image, in MB.',
  }),
  imagesMaxMb: integer({
    default: 100,
    min: 1,
    max: 1000,
    env: ['MAX_TOTAL_SIZE_MB'],
    description: "Max total size of an entry's decoded images, in MB.",
  }),
});

export type ContextConfig = SliceValues<typeof contextSlice>;

/** Creates a list setting for names of indexed fields; see `parseIndexedField`. */
function fieldNames(options: Parameters<typeof list>[0]): Field<readonly string[]> {
  const names = list(options);
  return {
    ...names,
    read(raw) {
      const fields = names.read(raw);
      const wrong = fields.find((name) => parseIndexedField(name) === undefined);
      if (wrong === undefined) return fields;
      throw new ConfigFault(
        `must be *, field names, or field names followed by a colon and a type (${fieldTypes.join(', ')})`,
      );
    },
  };
}
