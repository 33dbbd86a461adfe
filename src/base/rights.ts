/** What a caller may access and do. An absent field means no restriction. */
export interface Rights {
  /** Names of the allowed toolsets. Tools, resources and prompts of others look as if they did not exist. */
  readonly toolsets?: readonly string[];
  /** True allows only tools that change nothing. */
  readonly readOnly?: boolean;
  /** Names of the allowed knowledge base collections. */
  readonly collections?: readonly string[];
  /** Ids of the allowed context threads. */
  readonly threads?: readonly string[];
}

export const fullRights: Rights = {};

/** An authenticated caller. */
export interface Principal {
  /** The name in logs, console and metrics. It is never a secret, and not unique. */
  readonly name: string;
  /** Unique, even across renamed or recreated tokens. Job ids, uploads and quotas are tied to it. */
  readonly identity: string;
  readonly rights: Rights;
  /** Identifies the token that authenticated the caller, without revealing it. Absent if the token cannot be revoked. */
  readonly credential?: string;
  /** When the token expires, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** Returns a key that is the same for equal rights. */
export function rightsKey({ toolsets, readOnly = false, collections, threads }: Rights): string {
  return JSON.stringify([toolsets, readOnly, collections, threads].map((part) => part ?? null));
}

/** Returns a key of the identity and its rights. One identity may have several tokens with different rights. */
export function principalKey({ identity, rights }: Principal): string {
  return `${identity} ${rightsKey(rights)}`;
}

/** True if the caller may see the whole server. */
export function isUnrestricted({ toolsets, collections, threads }: Rights): boolean {
  return toolsets === undefined && collections === undefined && threads === undefined;
}

export function hasExpired({ expiresAt }: Principal): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}
