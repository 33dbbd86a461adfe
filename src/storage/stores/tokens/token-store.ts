import type { TokenStore } from '../../contracts/tokens.ts';
import type { Transactions } from '../../transactions.ts';
import { addToken, anyToken, findToken, forgetTokens, listTokens, revokeToken, touchToken } from './tokens.ts';

export function createTokenStore({ write, read }: Transactions): TokenStore {
  return {
    add: (token) => write(addToken, token),
    list: (options) => read(listTokens, undefined, options),
    find: (request, options) => read(findToken, request, options),
    revoke: (request) => write(revokeToken, request),
    forgetAll: () => write(forgetTokens, undefined),
    any: (options) => read(anyToken, undefined, options),
    touch: (request) => write(touchToken, request),
  };
}
