import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

type PrivateKey = Parameters<SignJWT['sign']>[0];

export interface OAuthIssuer {
  readonly url: string;
  /** Requested paths. */
  readonly requests: string[];
  /** Creates a key for this algorithm and, unless `published` is false, publishes it. */
  addKey(algorithm: string, published?: boolean): Promise<{ kid: string; publicJwk: object }>;
  /** Signs a token with the key. Claims have valid defaults; a claim set to undefined is omitted. */
  issue(kid: string, claims?: Record<string, unknown>): Promise<string>;
  stop(): Promise<void>;
}

/** Starts an authorization server on loopback, with metadata, keys and tokens. */
export async function startOAuthIssuer(audience: () => string): Promise<OAuthIssuer> {
  const keys = new Map<string, { privateKey: PrivateKey; algorithm: string; jwk: object; published: boolean }>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    const published = [...keys.values()].filter((key) => key.published).map(({ jwk }) => jwk);
    const responses: Record<string, object> = {
      '/.well-known/oauth-authorization-server': { issuer: url, jwks_uri: `${url}/keys` },
      '/keys': { keys: published },
    };
    response.writeHead(responses[path] ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(responses[path] ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    async addKey(algorithm, published = true) {
      const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
      const kid = `key-${keys.size}`;
      const jwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };
      keys.set(kid, { privateKey, algorithm, jwk, published });
      return { kid, publicJwk: jwk };
    },
    async issue(kid, claims = {}) {
      const key = keys.get(kid);
      if (key === undefined) throw new Error('no such key');
      const now = Math.floor(Date.now() / 1000);
      const validClaims = {
        iss: url,
        aud: audience(),
        sub: 'somebody',
        scope: 'openid carrel',
        iat: now,
        exp: now + 600,
      };
      const payload = JSON.parse(JSON.stringify({ ...validClaims, ...claims })) as JWTPayload;
      return new SignJWT(payload).setProtectedHeader({ alg: key.algorithm, kid, typ: 'at+jwt' }).sign(key.privateKey);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
