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
  /** Where to continue in a long resource; the protocol layer finds it wherever the client put it. */
  cursor?: string;
}

/** Text, or bytes in base64. */
export type ResourcePart = { uri: string; mimeType: string; _meta?: Record<string, unknown> } & (
  | { text: string }
  | { blob: string }
);

/** What `resources/read` answers. Fields beside `contents` go out as they are. */
export interface ResourceContents {
  contents: ResourcePart[];
  _meta?: Record<string, unknown>;
  [extra: string]: unknown;
}

/** Resources of one kind. Its URIs share a prefix, which is how a read finds its provider. */
export interface ResourceProvider {
  uriPrefix: string;
  templates: readonly ResourceTemplate[];
  list(cursor: string | undefined, call: Call): Promise<ResourcePage>;
  read(reading: ResourceReading, call: Call): Promise<ResourceContents>;
  /**
   * A text that differs when the resource has changed, or, without a URI, when the list has. It is asked for every few
   * seconds while somebody wants to know, so it must be cheap. Absent: nobody is told of changes.
   */
  stamp?(uri: string | undefined, call: Call): Promise<string>;
  /** Suggestions for a template's variable, best first. */
  complete?(uriTemplate: string, variable: string, typed: string, call: Call): Promise<string[]>;
}
