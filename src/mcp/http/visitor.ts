import { type Principal, principalKey } from '../../base/rights.ts';
import { type Caller, localUser } from '../../tools/call.ts';

/** The sender of a request, before any session. */
export interface Visitor {
  /** The caller that the token proves; undefined if no token is required. */
  principal: Principal | undefined;
  address: string;
  /** The validated Host header. */
  host: string;
}

/** Identifies the owner of a session, by identity and rights. */
export function callerKey({ principal, address }: Visitor): string {
  if (principal === undefined) return `address ${address}`;
  return principalKey(principal);
}

/** Creates the caller. Its id, by which quotas are counted, is the same in all sessions and connections. */
export function callerOf(visitor: Visitor, sessionId?: string): Caller {
  const { principal } = visitor;
  const key = callerKey(visitor);
  return {
    ...(principal ?? localUser),
    id: principal?.identity ?? key,
    owner: principal === undefined && sessionId !== undefined ? `session ${sessionId}` : key,
    authenticated: principal !== undefined,
    serverOrigin: `http://${visitor.host}`,
  };
}
