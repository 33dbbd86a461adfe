import { type Principal, rightsKey } from '../../base/rights.ts';
import { type Caller, localUser } from '../../tools/call.ts';

/** Who is on the other side of a request, before any session. */
export interface Visitor {
  /** Whom the token proves, where one is needed. */
  principal: Principal | undefined;
  address: string;
  /** The Host that it named, which was checked. */
  host: string;
}

/** Who opened a session: nobody else may use it, and nobody with other rights. */
export function callerKey({ principal, address }: Visitor): string {
  if (principal === undefined) return `address ${address}`;
  return `${principal.identity} ${rightsKey(principal.rights)}`;
}

/** Who calls: quotas are counted per visitor, whichever session or connection is used. */
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
