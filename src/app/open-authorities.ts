import type { OAuthConfig } from '../access/oauth/oauth-authority.ts';
import { oauthSlice } from '../access/oauth/oauth-slice.ts';
import { readScopes } from '../access/oauth/scope-rights.ts';
import { createTokenAuthority, type TokenAuthorityOptions } from '../access/token-authority.ts';
import { CarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Config } from '../config/load.ts';
import { httpSlice } from '../config/slices.ts';
import { type Authority, isLoopbackHost } from '../http/guards.ts';
import { inspectStorage } from '../storage/open-storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import type { TokenStore } from '../storage/tokens/token.ts';
import { kbSlice } from '../toolsets/kb/kb-slice.ts';
import { openConfiguredStorage, storageLocation } from './configured-storage.ts';
import type { Role } from './role.ts';
import type { SharedServices } from './shared-services.ts';
import { toolsetNames } from './toolsets.ts';

export interface Authorities {
  readonly authorities: readonly Authority[];
  /** OAuth resource metadata, if an issuer is configured. */
  readonly resource: { readonly path: string; readonly metadata: object } | undefined;
  /** The tokens made with `carrel token add`; undefined if the role has no database. */
  readonly tokens?: () => Promise<TokenStore>;
  close(): Promise<void>;
}

/** Opens the authorities for all tokens except the configured one: the database's tokens and the operator's OAuth issuer. */
export async function openAuthorities(
  role: Role,
  config: Config,
  log: Logger,
  shared: SharedServices,
): Promise<Authorities> {
  const { authorities: issuers, resource } = await openIssuer(config, log);
  if (!(await usesDatabase(role, config))) return { authorities: issuers, resource, close: async () => {} };
  let lease: ReturnType<SharedServices['storage']> | undefined;
  const tokens = async () => {
    lease ??= shared.storage();
    return (await lease).resource.tokens;
  };
  return {
    authorities: [createTokenAuthority(tokens, log, exposureOf(role, config)), ...issuers],
    resource,
    tokens,
    close: async () => (await lease)?.release(),
  };
}

/** Enforces the rule of `checkExposure` at run time too, because all tokens can be revoked after the start. */
function exposureOf(role: Role, config: Config): TokenAuthorityOptions {
  const isExposed = !isLoopbackHost(config.of(httpSlice).host);
  return { isExposed, isAlwaysRequired: isExposed && role.tokenBeyondLoopback === true };
}

/** Opens the OAuth issuer. Its code is loaded only if one is configured. */
async function openIssuer(config: Config, log: Logger): Promise<Pick<Authorities, 'authorities' | 'resource'>> {
  const oauth = readOAuth(config);
  if (oauth === undefined) return { authorities: [], resource: undefined };
  const { createOAuthAuthority, metadataPath, resourceMetadata } = await import('../access/oauth/oauth-authority.ts');
  return {
    authorities: [createOAuthAuthority(oauth, log)],
    resource: { path: metadataPath, metadata: resourceMetadata(oauth) },
  };
}

/** Reads the OAuth settings; undefined if no issuer is configured. */
export function readOAuth(config: Config): OAuthConfig | undefined {
  const { issuer, audience, jwksUrl, scopes } = config.of(oauthSlice);
  if (issuer === undefined) return undefined;
  if (audience === undefined) {
    const message =
      'CARREL_OAUTH_ISSUER also needs CARREL_OAUTH_AUDIENCE: the URL of this MCP endpoint, for which tokens are issued.';
    throw new CarrelError('invalid_config', message);
  }
  if (scopes.length === 0) {
    const message =
      'CARREL_OAUTH_ISSUER also needs CARREL_OAUTH_SCOPES: the rights of each scope, such as "carrel" (everything) or "carrel.read=read-only".';
    throw new CarrelError('invalid_config', message);
  }
  return { issuer, audience, jwksUrl, scopes: readScopes(scopes, toolsetNames) };
}

/** True if the role uses a database. With a remote engine, it uses one only if it exists: none is created just for tokens. */
export async function usesDatabase(role: Role, config: Config): Promise<boolean> {
  if (!role.slices.includes(storageSlice)) return false;
  const usesRemoteEngine = role.name === 'kb' && config.of(kbSlice).engineUrl !== undefined;
  if (!usesRemoteEngine) return true;
  const { schema } = await inspectStorage(storageLocation(config.of(storageSlice), config.dataDir));
  return schema !== undefined;
}

/** True if an existing database has tokens. Creates no database, because the server may still refuse to start. */
export async function hasNamedTokens(role: Role, config: Config, log: Logger): Promise<boolean> {
  if (!role.slices.includes(storageSlice)) return false;
  const { schema } = await inspectStorage(storageLocation(config.of(storageSlice), config.dataDir));
  if (schema === undefined) return false;
  const storage = await openConfiguredStorage(config.of(storageSlice), config.dataDir, log);
  try {
    return await storage.tokens.any();
  } finally {
    await storage.close();
  }
}
