import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { parseBoundedJson } from '../../base/bounded-json.ts';
import { isObject } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { createServiceClient } from '../../http/service-client.ts';

export interface IssuerKeysConfig {
  readonly issuer: string;
  readonly jwksUrl: string | undefined;
}

export interface IssuerKeys {
  /** Finds the key for a token, for the library jose. Throws if no key matches. */
  readonly find: JWTVerifyGetKey;
}

/** Thrown while the issuer's keys are unavailable, so that no token can be verified. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

const timeoutMs = 5_000;
const bytesMax = 256 * 1024;
/** Age after which keys are fetched again. Known keys stay valid while the issuer is unreachable. */
const freshMs = 10 * 60_000;
/** Min time between fetches for tokens with an unknown key. */
const refetchMs = 30_000;
/** Min time between attempts to fetch the first keys. */
const retryMs = 2_000;
const longAgo = Number.NEGATIVE_INFINITY;

/** Fetches the issuer's keys on first use, only from the issuer's host or from the configured URL. */
export function createIssuerKeys(config: IssuerKeysConfig, log: Logger): IssuerKeys {
  let findKey: JWTVerifyGetKey | undefined;
  let fetching: Promise<void> | undefined;
  const last = { fetched: longAgo, tried: longAgo, missed: longAgo };
  const isOlderThan = (time: number, ms: number): boolean => performance.now() - time > ms;

  const fetchNow = async (): Promise<void> => {
    last.tried = performance.now();
    try {
      findKey = createLocalJWKSet(await fetchKeys(config));
      last.fetched = performance.now();
    } catch (error) {
      log.warn("the OAuth issuer's keys cannot be read", { error });
    }
  };
  const refresh = (): Promise<void> => {
    fetching ??= fetchNow().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };

  return {
    async find(header, token) {
      if (findKey === undefined) {
        if (fetching !== undefined || isOlderThan(last.tried, retryMs)) await refresh();
      } else if (isOlderThan(last.fetched, freshMs) && isOlderThan(last.tried, refetchMs)) void refresh();
      if (findKey === undefined) throw new KeysUnavailable("the OAuth issuer's keys are not available yet");
      try {
        return await findKey(header, token);
      } catch (error) {
        if (!isOlderThan(last.missed, refetchMs)) throw error;
        last.missed = performance.now();
        await refresh();
        return findKey(header, token);
      }
    },
  };
}

async function fetchKeys({ issuer, jwksUrl }: IssuerKeysConfig): Promise<JSONWebKeySet> {
  const keys = await getJson(jwksUrl ?? (await discover(issuer)));
  if (!isObject(keys) || !Array.isArray(keys['keys'])) throw new Error('the answer is not a JSON Web Key Set');
  return keys as unknown as JSONWebKeySet;
}

/** Finds the URL of the issuer's keys. Tries the paths of RFC 8414 and of OpenID Connect Discovery. */
async function discover(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const candidates = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const candidate of candidates) {
    const metadata = await getJson(candidate).catch(() => undefined);
    if (!isObject(metadata) || metadata['issuer'] !== issuer || typeof metadata['jwks_uri'] !== 'string') continue;
    if (URL.parse(metadata['jwks_uri'])?.origin !== origin) {
      throw new Error('the keys are on another host than the issuer: set oauth.jwksUrl');
    }
    return metadata['jwks_uri'];
  }
  throw new Error('the issuer has no metadata: check oauth.issuer, or set oauth.jwksUrl');
}

async function getJson(url: string): Promise<unknown> {
  const { origin, pathname, searchParams } = new URL(url);
  const client = createServiceClient({ baseUrl: origin, headers: {}, timeoutMs, answerBytesMax: bytesMax });
  try {
    const { status, body } = await client.request({ method: 'GET', path: pathname, query: searchParams });
    if (status !== 200) throw new Error(`status ${status}`);
    return parseBoundedJson(body.toString('utf8'));
  } finally {
    client.close();
  }
}
