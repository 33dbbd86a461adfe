import { type Principal, rightsKey } from '../../base/rights.ts';
import { type Caller, localUser } from '../../tools/call.ts';

/** The sender of a request, before any session. */
export interface Visitor {
  /** The principal proven by the token, if one is required. */
  principal: Principal | undefined;
  address: string;
  /** The validated Host header. */
  host: string;
}

/** Identifies a session's owner, including their rights. */
export function callerKey({ principal, address }: Visitor): string {
  if (principal === undefined) return `address ${address}`;
  return `${principal.identity} ${rightsKey(principal.rights)}`;
}

/** Quotas are counted per visitor, across sessions and connections. */
export function callerOf(visitor: Visitor, sessionId?: string): Caller {
  const { principal } = visitor;
  const key = callerKey(visitor);
  return {
    ...(principal ?? localUser),
    id: principal?.identity ?? key,
    owner: principal === undefined && sessionId !== undefined ? `session ${sessionId}` : key,
    authenticated: principal !== undefined,
    reachedAt: `http://${visitor.host}`,
  };
}
