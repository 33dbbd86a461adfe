/** What a caller may access and do. An absent field means no restriction. */
export interface Rights {
  /** By name. Tools, resources and prompts of other toolsets look as if they did not exist. */
  readonly toolsets?: readonly string[];
  /** Only tools that change nothing. */
  readonly readOnly?: boolean;
  /** Knowledge base collections. */
  readonly collections?: readonly string[];
  /** Context threads. */
  readonly threads?: readonly string[];
}

export const fullRights: Rights = {};

/** An authenticated caller. */
export interface Principal {
  /** For logs, the console and metrics; never a secret and not unique. */
  readonly name: string;
  /** Unique, even across renamed or recreated tokens. Handles and quotas use it. */
  readonly identity: string;
  readonly rights: Rights;
  /** Which token authenticated the caller (not the token itself). Absent if it cannot be revoked. */
  readonly credential?: string;
  /** When the token expires, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** Equal rights have equal keys. */
export function rightsKey({ toolsets, readOnly = false, collections, threads }: Rights): string {
  return JSON.stringify([toolsets, readOnly, collections, threads].map((part) => part ?? null));
}

/** True if the caller may see the whole server. */
export function isUnrestricted({ toolsets, collections, threads }: Rights): boolean {
  return toolsets === undefined && collections === undefined && threads === undefined;
}

/** True if the token has expired. */
export function hasEnded({ expiresAt }: Principal): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}
