import type { Call } from './call.ts';

/** Texts that can be cited by URI, in their current version. */
export interface CitableTexts {
  /** Prefixes of their URIs. */
  uriPrefixes: readonly string[];
  /** The tool that fetches them from other servers. If it is disabled, they are not read here either. */
  tool?: string;
  /** Undefined if nothing exists at this URI. */
  read(uri: string, call: Call): Promise<CitableText | undefined>;
}

export interface CitableText {
  /** Identifies this version of the text. Search hits carry the same hash. */
  hash: string;
  /** In order; a quotation may span several. */
  passages: readonly CitablePassage[];
  /** True if the text was truncated. */
  isCut?: boolean;
}

export interface CitablePassage {
  text: string;
  /** Location for readers, such as a page. */
  place?: Record<string, string | number>;
}
