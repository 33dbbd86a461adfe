/** What a caller may reach and do. Whatever is absent is not restricted. */
export interface Rights {
  /** Toolsets, by name: tools, resources and prompts of others are as unknown as if they did not exist. */
  readonly toolsets?: readonly string[];
  /** Only tools that change nothing. */
  readonly readOnly?: boolean;
  /** Collections of the knowledge base. */
  readonly collections?: readonly string[];
  /** Threads of the context store. */
  readonly threads?: readonly string[];
}

export const fullRights: Rights = {};

/** Somebody who has proved who they are. */
export interface Principal {
  /** As the log, the console and metrics show it; never a secret. Two callers may have the same. */
  readonly name: string;
  /** Who it is: two callers never have the same, also if one is renamed or made anew. Handles and quotas go by it. */
  readonly identity: string;
  readonly rights: Rights;
  /** Which token proved it, for whoever gave it out; not the token. Absent where it cannot be taken back. */
  readonly credential?: string;
  /** When the proof ends, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** The same for equal rights. */
export function rightsKey({ toolsets, readOnly = false, collections, threads }: Rights): string {
  return JSON.stringify([toolsets, readOnly, collections, threads].map((part) => part ?? null));
}

/** Whether somebody may see the server as a whole. */
export function isUnrestricted({ toolsets, collections, threads }: Rights): boolean {
  return toolsets === undefined && collections === undefined && threads === undefined;
}

/** Whether the time of the proof is over. */
export function hasEnded({ expiresAt }: Principal): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}
