import { createHash } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { Logger } from '../../base/log.ts';
import type { Principal } from '../../base/rights.ts';
import type { Authority } from '../../http/guards.ts';
import { createIssuerKeys, KeysUnavailable } from './issuer-keys.ts';
import { rightsOf, type ScopeRights } from './scope-rights.ts';

export interface OAuthConfig {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl: string | undefined;
  readonly scopes: readonly ScopeRights[];
}

/** Accepted signature algorithms, all with public keys: others would not prove that the token is from the issuer. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

const clockToleranceSeconds = 30;
const tokenCharsMax = 8_192;
const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Accepts access tokens of the configured authorization server. Carrel is an OAuth 2.1 resource server. */
export function createOAuthAuthority(config: OAuthConfig, log: Logger): Authority {
  const { issuer, audience, scopes } = config;
  const keys = createIssuerKeys(config, log);
  return {
    isRequired: async () => true,
    async identify(token): Promise<Principal | 'insufficient' | undefined> {
      if (token.length > tokenCharsMax || !jwtForm.test(token)) return undefined;
      try {
        const { payload } = await jwtVerify(token, keys.find, {
          issuer,
          audience,
          algorithms,
          clockTolerance: clockToleranceSeconds,
          requiredClaims: ['exp'],
        });
        const rights = rightsOf(scopes, payload['scope'] ?? payload['scp']);
        if (rights === undefined) return 'insufficient';
        const expiresAt = ((payload.exp ?? 0) + clockToleranceSeconds) * 1000;
        return { ...identityOf(payload, token), rights, expiresAt };
      } catch (error) {
        if (error instanceof KeysUnavailable) throw error;
        // Logs only the reason, never the token.
        if (error instanceof errors.JOSEError) log.debug('an OAuth token was refused', { code: error.code });
        return undefined;
      }
    },
    areValid: async (principals) => principals.map(() => true),
    challenge: `resource_metadata="${metadataUrl(audience)}"`,
  };
}

/**
 * Identifies the caller by user (`sub`) or client id. The identity says which, because a client id may equal a user's `sub`.
 * A token without either is identified by its hash.
 */
function identityOf({ iss, sub, client_id: client }: JWTPayload, token: string): Pick<Principal, 'name' | 'identity'> {
  const [kind, subject] = isText(sub)
    ? ['user', sub]
    : isText(client)
      ? ['client', client]
      : ['token', createHash('sha256').update(token).digest('hex')];
  return { name: nameOf(subject), identity: `oauth ${JSON.stringify([iss, kind, subject])}` };
}

function isText(claim: unknown): claim is string {
  return typeof claim === 'string' && claim !== '';
}

/** Returns the caller's name for logs and metrics. A subject with unusual characters is replaced by its hash. */
function nameOf(subject: string): string {
  const isPlain = /^[\w.@:|/-]{1,64}$/.test(subject);
  return `oauth ${isPlain ? subject : createHash('sha256').update(subject).digest('hex').slice(0, 16)}`;
}

/** Path of this server's resource metadata (RFC 9728 §3). */
export const metadataPath = '/.well-known/oauth-protected-resource';

function metadataUrl(audience: string): string {
  const { origin, pathname } = new URL(audience);
  return `${origin}${metadataPath}${pathname === '/' ? '' : pathname}`;
}

/** Returns this server's resource metadata (RFC 9728 §2). */
export function resourceMetadata({ issuer, audience, scopes }: OAuthConfig): object {
  return {
    resource: audience,
    authorization_servers: [issuer],
    scopes_supported: scopes.map(({ scope }) => scope),
    bearer_methods_supported: ['header'],
    resource_name: 'Carrel',
  };
}
