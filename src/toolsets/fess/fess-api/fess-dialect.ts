import type { FessApiVersion } from './fess-api.ts';
import { fessError, isRecord } from './fess-errors.ts';

/** Where v1 (up to 15.6) and v2 (from 15.7) differ: paths, the envelope, and some names. */
export interface FessDialect {
  version: FessApiVersion;
  search: string;
  suggest: string;
  popularWords: string;
  labels: string;
  health: string;
  /** The parameter of suggest that names fields. The documentation calls it `fields`, which v1 ignores. */
  suggestField: string;
  suggestKey: string;
  suggestLabelsKey: string;
  popularKey: string;
  labelsKey: string;
  /** Takes the answer out of its envelope. */
  open(body: Record<string, unknown>, endpoint: string): Record<string, unknown>;
  /** The part of a health answer with the status, also of one with 503. */
  openHealth(body: Record<string, unknown>): unknown;
  /** Whether this JSON, of whatever status, comes from this API. */
  isSpokenBy(body: Record<string, unknown>): boolean;
}

export const dialectV1: FessDialect = {
  version: 'v1',
  search: '/api/v1/documents',
  suggest: '/api/v1/suggest-words',
  popularWords: '/api/v1/popular-words',
  labels: '/api/v1/labels',
  health: '/api/v1/health',
  suggestField: 'field',
  suggestKey: 'data',
  suggestLabelsKey: 'labels',
  popularKey: 'data',
  labelsKey: 'data',
  open: (body) => body,
  openHealth: (body) => body['data'],
  isSpokenBy: (body) => isRecord(body['data']) || 'error_code:' in body || 'error_code' in body,
};

export const dialectV2: FessDialect = {
  version: 'v2',
  search: '/api/v2/search',
  suggest: '/api/v2/suggest-words',
  popularWords: '/api/v2/popular-words',
  labels: '/api/v2/labels',
  health: '/api/v2/health',
  suggestField: 'fn',
  suggestKey: 'suggest_words',
  suggestLabelsKey: 'types',
  popularKey: 'popular_words',
  labelsKey: 'labels',
  open(body, endpoint) {
    const { response } = body;
    if (isRecord(response) && response['status'] === 0) return response;
    throw fessError('unexpected_shape', { endpoint, httpStatus: 200 });
  },
  openHealth({ response }) {
    if (!isRecord(response)) return undefined;
    const { error } = response;
    const details = isRecord(error) && isRecord(error['details']) ? error['details'] : response;
    return details['engine'];
  },
  isSpokenBy: ({ response }) => isRecord(response) && 'status' in response,
};
