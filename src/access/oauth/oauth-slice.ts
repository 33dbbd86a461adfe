import { defineSlice, httpUrl, list } from '../../config/field.ts';

/** Settings for servers whose access tokens come from an authorization server; see docs/access.md. */
export const oauthSlice = defineSlice('oauth', 'OAuth', {
  issuer: httpUrl<string | undefined>({
    default: undefined,
    env: ['CARREL_OAUTH_ISSUER'],
    description:
      'The authorization server whose access tokens (JWT) are accepted, exactly as in their `iss` claim. Also needs `oauth.audience` and `oauth.scopes`.',
  }),
  audience: httpUrl<string | undefined>({
    default: undefined,
    env: ['CARREL_OAUTH_AUDIENCE'],
    description:
      "The URL of the MCP endpoint as clients know it, such as https://carrel.example/mcp. A token's `aud` must contain it, and clients request tokens for it.",
  }),
  jwksUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['CARREL_OAUTH_JWKS_URL'],
    description:
      "The URL of the issuer's keys. By default taken from its metadata, which must name the issuer's own host.",
  }),
  scopes: list({
    default: [],
    env: ['CARREL_OAUTH_SCOPES'],
    description:
      'Rights by scope; the first listed scope that a token has applies. Each is `name`, or `name=` with read-only, toolsets:a+b, collections:a+b and threads:a+b, separated by spaces.',
  }),
});
