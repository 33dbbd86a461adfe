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
    description: 'Offer semantic_search_context. auto: if there is an embedding provider.',
  }),
  fullTextSearch: automatic({
    env: ['ENABLE_FTS'],
    description: 'Offer fts_search_context. auto: yes.',
  }),
  hybridSearch: automatic({
    env: ['ENABLE_HYBRID_SEARCH'],
    description: 'Offer hybrid_search_context. auto: if one of the other two is offered.',
  }),
  summaries: automatic({
    env: ['ENABLE_SUMMARY_GENERATION'],
    description: 'Summarize long entries in the background. auto: yes.',
  }),
  summaryProvider: choice(['extractive', 'ollama', 'openai'], {
    default: 'extractive',
    env: ['SUMMARY_PROVIDER'],
    description:
      "What writes summaries: the text's own best sentences, or a model on an Ollama or OpenAI-compatible server (OLLAMA_HOST; OPENAI_API_BASE, OPENAI_API_KEY).",
  }),
  summaryModel: optionalText({
    env: ['SUMMARY_MODEL'],
    description: 'The model on the server. Default: qwen3:0.6b or gpt-4o-mini.',
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
    description: 'Attempts per summary request before requests are paused for a while.',
  }),
  summaryBackOffSeconds: integer({
    default: 3,
    min: 0,
    max: 30,
    env: ['SUMMARY_RETRY_BASE_DELAY_S'],
    description: 'Pause before the second attempt, in seconds; doubles with each further attempt, up to ten seconds.',
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
      'Instructions for the model, instead of the built-in ones. The model is always told that the text is data.',
  }),
  summaryContextTokens: integer({
    default: 32_768,
    min: 1024,
    max: 1_048_576,
    env: ['SUMMARY_OLLAMA_NUM_CTX'],
    description: "The model's context length, in tokens.",
  }),
  summaryCutsLongTexts: toggle({
    default: false,
    env: ['SUMMARY_OLLAMA_TRUNCATE'],
    description: 'Truncate texts that exceed it. If false, such texts are summarized by their own sentences.',
  }),
  summaryReasoningEffort: optionalText({
    env: ['SUMMARY_OPENAI_REASONING_EFFORT'],
    description: 'Reasoning effort of an OpenAI reasoning model (low, medium, high). Leave unset for others.',
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
    description: 'Max length of a summary.',
  }),
  indexedFields: fieldNames({
    default: ['status', 'agent_name', 'task_name', 'project', 'report_type', 'references:object', 'technologies:array'],
    env: ['METADATA_INDEXED_FIELDS'],
    description:
      'Metadata fields to index: name or name:type. Dots reach into objects; arrays are indexed by member, objects with everything in them; * means all. Filters on other fields scan the metadata.',
  }),
  indexSyncMode: choice(indexModes, {
    default: 'additive',
    env: ['METADATA_INDEX_SYNC_MODE'],
    description:
      'What to do if the database indexes other fields: strict refuses to start, warn logs it, auto rebuilds the index, additive only adds fields.',
  }),
  chunking: toggle({
    default: true,
    env: ['ENABLE_CHUNKING'],
    description: 'Embed long texts in parts that are found separately.',
  }),
  chunkChars: integer({
    // The best value in our measurements; see search/meaning/passage-vectors.ts.
    default: 200,
    min: 100,
    max: 10_000,
    env: ['CHUNK_SIZE'],
    description:
      'Approximate characters per part. Texts are split between sentences; texts shorter than three parts stay whole. Applies to newly embedded texts.',
  }),
  chunkOverlapChars: integer({
    default: 0,
    min: 0,
    max: 500,
    env: ['CHUNK_OVERLAP'],
    description: "Accepted but ignored: parts don't overlap, because each vector includes a share of the whole text.",
  }),
  chunkAggregation: choice(['max'], {
    default: 'max',
    env: ['CHUNK_AGGREGATION'],
    description: 'How parts are combined: an entry is as near as its nearest part. No other value is supported.',
  }),
  truncationChars: integer({
    default: 300,
    min: 50,
    max: 1000,
    env: ['SEARCH_TRUNCATION_LENGTH'],
    description: 'Characters of an entry shown in search results.',
  }),
  rrfK: integer({
    default: 60,
    min: 1,
    max: 1000,
    env: ['HYBRID_RRF_K'],
    description: 'The constant of reciprocal rank fusion, unless a call sets it.',
  }),
  imageMaxMb: integer({
    default: 10,
    min: 1,
    max: 100,
    env: ['MAX_IMAGE_SIZE_MB'],
    description: 'Max size of one decoded image.',
  }),
  imagesMaxMb: integer({
    default: 100,
    min: 1,
    max: 1000,
    env: ['MAX_TOTAL_SIZE_MB'],
    description: "Max size of an entry's decoded images.",
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
