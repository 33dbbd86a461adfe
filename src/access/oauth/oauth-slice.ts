import { defineSlice, httpUrl, list } from '../../config/field.ts';

/** For operators who have an authorization server; see docs/access.md. */
export const oauthSlice = defineSlice('oauth', 'OAuth', {
  issuer: httpUrl<string | undefined>({
    default: undefined,
    env: ['CARREL_OAUTH_ISSUER'],
    description:
      'The authorization server whose access tokens (JWT) are accepted, exactly as its `iss` has it. Needs `oauth.audience` and `oauth.scopes` too.',
  }),
  audience: httpUrl<string | undefined>({
    default: undefined,
    env: ['CARREL_OAUTH_AUDIENCE'],
    description:
      'The URL of the MCP endpoint as clients know it, such as https://carrel.example/mcp. `aud` of a token must contain it, and clients learn it as the resource to ask a token for.',
  }),
  jwksUrl: httpUrl<string | undefined>({
    default: undefined,
    env: ['CARREL_OAUTH_JWKS_URL'],
    description: "Where the issuer's keys are. By default its metadata says so, and must name the issuer's own host.",
  }),
  scopes: list({
    default: [],
    env: ['CARREL_OAUTH_SCOPES'],
    description:
      'Rights by scope; of those that a token has, the first in this list counts. Each is `name`, or `name=` with read-only, toolsets:a+b, collections:a+b and threads:a+b, separated by spaces.',
  }),
});
