import type { Call } from './call.ts';

export interface ResourceSummary {
  uri: string;
  name: string;
  title?: string;
  description: string;
  mimeType: string;
  size?: number;
}

export interface ResourceTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description: string;
  mimeType: string;
}

export interface ResourcePage {
  resources: ResourceSummary[];
  nextCursor?: string;
}

export interface ResourceReading {
  uri: string;
  /** Continues a long resource. Clients may send it in several places. */
  cursor?: string;
}

/** Text, or bytes in base64. */
export type ResourcePart = { uri: string; mimeType: string; _meta?: Record<string, unknown> } & (
  | { text: string }
  | { blob: string }
);

/** The result of `resources/read`. Extra fields are sent as they are. */
export interface ResourceContents {
  contents: ResourcePart[];
  _meta?: Record<string, unknown>;
  [extra: string]: unknown;
}

/** One kind of resource. A URI prefix selects the provider. */
export interface ResourceProvider {
  uriPrefix: string;
  templates: readonly ResourceTemplate[];
  list(cursor: string | undefined, call: Call): Promise<ResourcePage>;
  read(reading: ResourceReading, call: Call): Promise<ResourceContents>;
  /**
   * A stamp that changes with the resource or, without a URI, with the list. Polled every few seconds while clients
   * subscribe, so it must be cheap. Without it, no changes are reported.
   */
  stamp?(uri: string | undefined, call: Call): Promise<string>;
  /** Suggestions for a template's variable, best first. */
  complete?(uriTemplate: string, variable: string, typed: string, call: Call): Promise<string[]>;
}
