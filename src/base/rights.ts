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
  /** As the log, the console and metrics show it; never a secret. */
  readonly name: string;
  readonly rights: Rights;
}
