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

interface ResourceReading {
  uri: string;
  /** The position from which to continue a long resource. */
  cursor?: string;
}

/** Text, or bytes in base64. */
type ResourcePart = { uri: string; mimeType: string; _meta?: Record<string, unknown> } & (
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
   * Returns a fingerprint that changes whenever the resource changes or, without a URI, the list. It is polled every few
   * seconds while clients are subscribed, so it must be cheap. Providers without `fingerprint` report no changes.
   */
  fingerprint?(uri: string | undefined, call: Call): Promise<string>;
  /** Suggestions for a template's variable, best first. */
  complete?(uriTemplate: string, variable: string, typed: string, call: Call): Promise<string[]>;
}
