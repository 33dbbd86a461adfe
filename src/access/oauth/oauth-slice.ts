import { defineSlice, httpUrl, list } from '../../config/field.ts';

/** Settings for servers whose access tokens come from an authorization server; see docs/access.md. */
export const oauthSlice = defineSlice('oauth', 'OAuth', {
  issuer: httpUrl<string | undefined>({
    default: undefined,
    env: ['CARREL_OAUTH_ISSUER'],
    description:
      'The authorization server whose access tokens (JWT) are accepted, exactly as in their `iss` claim. Requires `oauth.audience` and `oauth.scopes`.',
  }),
  audience: httpUrl<string | undefined>({
    default: undefined,
    env: ['CARREL_OAUTH_AUDIENCE'],
    description:
      "The URL that clients use for the MCP endpoint, such as https://carrel.example/mcp. Clients request tokens for it, and a token's `aud` must contain it.",
  }),
  jwksUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['CARREL_OAUTH_JWKS_URL'],
    description:
      "The URL of the issuer's keys. By default, it comes from the issuer's metadata and must be on the issuer's host.",
  }),
  scopes: list({
    default: [],
    env: ['CARREL_OAUTH_SCOPES'],
    description:
      'The rights that each scope grants. An item is `name`, which grants all rights, or `name=` followed by restrictions: read-only, toolsets:a+b, collections:a+b, threads:a+b, separated by spaces. A token gets the rights of the first item whose scope it has.',
  }),
});
