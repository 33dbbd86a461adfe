import type { Logger } from '../../base/log.ts';
import type { DetectingFessApi } from './fess-api/create-fess-api.ts';
import { faultOf } from './fess-api/fess-errors.ts';
import type { FessConfig } from './read-fess-config.ts';

/** 000 §4.4: a Fess that does not answer is a warning; requests then fail one by one. */
export async function greetFess(api: DetectingFessApi, config: FessConfig, log: Logger): Promise<void> {
  const { fessBaseUrl, fessAccessToken } = config;
  const version = await api.detect();
  if (version === undefined) {
    log.warn('Fess does not answer like a Fess server; requests will fail until it does', {
      host: hostOf(fessBaseUrl),
    });
    return;
  }
  log.info('Fess answers', { version });
  if (fessAccessToken === undefined) return;
  // Health needs no token, and a server that keeps no search log answers a bad one with no results, not with 401.
  await api.labels().catch((error: unknown) => {
    if (faultOf(error) === 'refused_token') log.warn('Fess rejects the access token; check fessAccessToken');
  });
}

function hostOf(url: string): string {
  return new URL(url).host;
}
