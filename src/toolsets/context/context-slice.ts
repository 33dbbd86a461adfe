import { choice, defineSlice, integer, type SliceValues } from '../../config/field.ts';

const automatic = ['auto', 'true', 'false'] as const;

/** The names and bounds are those of the server whose interface this is (seed 002). */
export const contextSlice = defineSlice('context', 'Context store', {
  semanticSearch: choice(automatic, {
    default: 'auto',
    env: ['ENABLE_SEMANTIC_SEARCH'],
    description: 'Whether semantic_search_context is offered. auto: when there is an embedding provider.',
  }),
  fullTextSearch: choice(automatic, {
    default: 'auto',
    env: ['ENABLE_FTS'],
    description: 'Whether fts_search_context is offered. auto: yes.',
  }),
  hybridSearch: choice(automatic, {
    default: 'auto',
    env: ['ENABLE_HYBRID_SEARCH'],
    description: 'Whether hybrid_search_context is offered. auto: when one of the other two is.',
  }),
  reranking: choice(automatic, {
    default: 'auto',
    env: ['ENABLE_RERANKING'],
    description:
      'Whether results have a relevance from 0 to 1 (rerank_score), by which hybrid_search_context puts them in order instead of by ranks alone. auto: yes.',
  }),
  summaries: choice(automatic, {
    default: 'auto',
    env: ['ENABLE_SUMMARY_GENERATION'],
    description: 'Whether long entries get a summary, made of their own best sentences. auto: yes.',
  }),
  summaryMinChars: integer({
    default: 500,
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
    description: 'The length of a summary at most. The usual one has five sentences.',
  }),
  truncationChars: integer({
    default: 300,
    min: 50,
    max: 1000,
    env: ['SEARCH_TRUNCATION_LENGTH'],
    description: 'Characters of an entry that a search shows.',
  }),
  rrfK: integer({
    default: 60,
    min: 1,
    max: 1000,
    env: ['HYBRID_RRF_K'],
    description: 'The constant of reciprocal rank fusion, unless a call gives its own.',
  }),
  imageMaxMb: integer({
    default: 10,
    min: 1,
    max: 100,
    env: ['MAX_IMAGE_SIZE_MB'],
    description: 'The size of one image, decoded.',
  }),
  imagesMaxMb: integer({
    default: 100,
    min: 1,
    max: 1000,
    env: ['MAX_TOTAL_SIZE_MB'],
    description: 'The size of all images of an entry, decoded.',
  }),
});

export type ContextConfig = SliceValues<typeof contextSlice>;
