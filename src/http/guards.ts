import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { asCaller } from '../base/current-caller.ts';
import type { Logger } from '../base/log.ts';
import { fullRights, hasExpired, type Principal } from '../base/rights.ts';
import type { Secret } from '../base/secret.ts';
import { createSlidingWindow } from '../base/sliding-window.ts';
import { clientAddress } from './client-address.ts';

export interface GuardOptions {
  /** The address to listen on, as configured. */
  host: string;
  /** Host names accepted besides the server's own. */
  allowedHosts: readonly string[];
  /** Origins of other web sites whose pages may call the server. */
  allowedOrigins: readonly string[];
  /** Tokens with all rights, by caller name. Without any, and if no authority requires a token, anyone may call. */
  tokens: Readonly<Record<string, Secret>>;
  /** Other issuers of tokens. */
  authorities?: readonly Authority[];
  log?: Logger;
}

/** Identifies callers by tokens from a database or an external issuer. */
export interface Authority {
  /** True if callers need a token, even if `GuardOptions.tokens` is empty. */
  isRequired(): Promise<boolean>;
  /**
   * Returns the caller that a token identifies. Undefined if the token is unknown, expired or revoked; `insufficient` if it is
   * valid but gives no rights here.
   */
  identify(token: string): Promise<Principal | 'insufficient' | undefined>;
  /** Returns, for each caller, true if its token is still valid or comes from another authority. */
  areValid(principals: readonly Principal[]): Promise<boolean[]>;
  /** Parameters of `WWW-Authenticate` that say where to get a token. */
  readonly challenge?: string;
}

export interface Refusal {
  status: 400 | 401 | 403 | 429 | 503;
  problem: string;
  headers?: Record<string, string>;
}

/** The caller, or why access is refused. The principal is undefined if no token is needed. */
export type Access = { principal: Principal | undefined } | Refusal;

export type Guards = ReturnType<typeof createGuards>;

const wrongTokensPerMinute = 30;

export function createGuards(options: GuardOptions) {
  const ownHosts = ['localhost', '127.0.0.1', '[::1]', options.host.toLowerCase()];
  const configuredHosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const hosts = new Set([...ownHosts, ...configuredHosts]);
  const isBeyondLoopback = !isLoopbackHost(options.host);
  if (isBeyondLoopback) hosts.add(hostname().toLowerCase());
  const origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()));
  const tokens = Object.entries(options.tokens).map(([name, token]) => ({
    principal: { name, identity: `operator ${name}`, rights: fullRights },
    digest: digest(token.reveal()),
  }));
  const authorities = options.authorities ?? [];
  const wrongTokens = createSlidingWindow({ limit: wrongTokensPerMinute, windowMs: 60_000 });

  const isAllowedHost = (host: string): boolean => {
    const name = hostName(host);
    if (name === undefined) return false;
    // Addresses are safe: DNS rebinding needs a host name.
    return hosts.has(name) || (isBeyondLoopback && isIP(name.replace(/^\[|\]$/g, '')) !== 0);
  };

  /** True for origins on the configured host names, with any port and scheme: a proxy may change both. */
  const isConfiguredOrigin = (origin: string): boolean => {
    const host = /^https?:\/\/(.+)$/i.exec(origin)?.[1];
    const name = host === undefined ? undefined : hostName(host);
    return name !== undefined && configuredHosts.has(name);
  };

  return {
    /** Checks Host and Origin, so that malicious web pages cannot call the server through a browser. */
    checkSite(request: IncomingMessage): Refusal | undefined {
      const { host, origin } = request.headers;
      // If there are several Host headers, Node uses the first, but a proxy may have checked the last (RFC 9112 §3.2).
      if (headerValues(request, 'host').length > 1)
        return { status: 400, problem: 'A request must have exactly one Host header.' };
      if (host === undefined || !isAllowedHost(host)) {
        return { status: 403, problem: 'This Host is not allowed. The operator can allow it (http.allowedHosts).' };
      }
      const values = headerValues(request, 'origin');
      if (values.length === 0) return undefined;
      const isSameOrigin = values.length === 1 && origin?.toLowerCase() === `http://${host.toLowerCase()}`;
      const isAllowed =
        values.length === 1 && (origins.has(String(origin).toLowerCase()) || isConfiguredOrigin(String(origin)));
      if (isSameOrigin || isAllowed) return undefined;
      return { status: 403, problem: 'This Origin is not allowed. The operator can allow it (http.allowedOrigins).' };
    },
    checkToken: (request: IncomingMessage) => check(bearerToken(request), request, false),
    /** Like `checkToken`, for a token that a person typed in. */
    checkTyped: (token: string, request: IncomingMessage) => check(token, request, true),
    /** Returns, for each caller, true if its token is neither revoked nor expired. */
    async areValid(principals: readonly Principal[]): Promise<boolean[]> {
      const answers = await Promise.all(authorities.map((authority) => authority.areValid(principals)));
      return principals.map((principal, index) => !hasExpired(principal) && answers.every((valid) => valid[index]));
    },
  };

  async function check(token: string | undefined, request: IncomingMessage, isTyped: boolean): Promise<Access> {
    const address = clientAddress(request.socket.remoteAddress);
    // Configured tokens may be short enough to guess, so they are not compared after too many wrong tokens from an address. The
    // tokens of authorities can't be guessed, so they are still checked.
    const waitMs = token === undefined ? undefined : wrongTokens.wait(address);
    if (waitMs !== undefined && isTyped) return tooMany(waitMs);
    const tokenDigest = token === undefined || waitMs !== undefined ? undefined : digest(token);
    // Until the caller is known, database reads are queued per token, so that no caller waits for another's checks.
    const queueKey = tokenDigest === undefined ? `address ${address}` : `digest ${tokenDigest.toString('hex')}`;
    let principal: Principal | undefined;
    // Always compares all tokens, so that timing reveals nothing.
    for (const configured of tokens) {
      if (tokenDigest !== undefined && timingSafeEqual(tokenDigest, configured.digest))
        principal = configured.principal;
    }
    try {
      for (const authority of authorities) {
        const identified =
          token === undefined || principal ? undefined : await asCaller(queueKey, () => authority.identify(token));
        if (identified === 'insufficient') return insufficient(authority);
        principal ??= identified;
      }
      if (principal !== undefined || !(await isTokenRequired())) return { principal };
    } catch (error) {
      options.log?.warn('tokens cannot be checked', { error });
      return {
        status: 503,
        problem: 'Tokens cannot be checked at the moment. Try again in a few seconds.',
        headers: { 'retry-after': '5' },
      };
    }
    const problem = 'A valid bearer token is required: Authorization: Bearer <token>.';
    const challengeParams = [
      ...(token === undefined ? [] : ['error="invalid_token"']),
      ...authorities.flatMap(({ challenge }) => challenge ?? []),
    ];
    const challenge = { 'www-authenticate': `Bearer ${challengeParams.join(', ')}`.trim() };
    if (token === undefined) return { status: 401, problem, headers: challenge };
    const attempt = wrongTokens.take(address);
    return attempt.ok ? { status: 401, problem, headers: challenge } : tooMany(attempt.retryAfterMs);
  }

  async function isTokenRequired(): Promise<boolean> {
    if (tokens.length > 0) return true;
    for (const authority of authorities) if (await authority.isRequired()) return true;
    return false;
  }
}

/** True if a host is certainly loopback, in any spelling. Others count as reachable from outside. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

/** Creates the refusal for a token without a useful scope (RFC 6750 §3.1). */
function insufficient({ challenge }: Authority): Refusal {
  const challengeParams = ['error="insufficient_scope"', ...(challenge === undefined ? [] : [challenge])];
  return {
    status: 403,
    problem: 'This token has no scope that allows anything here. Request one with a scope from oauth.scopes.',
    headers: { 'www-authenticate': `Bearer ${challengeParams.join(', ')}` },
  };
}

function tooMany(retryAfterMs: number): Refusal {
  return {
    status: 429,
    problem: 'Too many wrong tokens. Wait, then try again.',
    headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
  };
}

function hostName(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:@/?#\s\\]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase();
}

function bearerToken(request: IncomingMessage): string | undefined {
  const values = headerValues(request, 'authorization');
  if (values.length !== 1) return undefined;
  return /^Bearer ([!-~]+)$/i.exec(values[0] ?? '')?.[1];
}

/** Returns all values of a header. Node's `headers` joins or drops repeated ones, which must be detected here. */
function headerValues(request: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    if (request.rawHeaders[index]?.toLowerCase() === name) values.push(request.rawHeaders[index + 1] ?? '');
  }
  return values;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
