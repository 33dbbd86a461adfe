import type { Call } from './call.ts';

/** Texts that can be cited by URI, in their current version. */
export interface CitableTexts {
  /** Prefixes of their URIs. */
  uriPrefixes: readonly string[];
  /** Name of the tool that fetches these texts from other servers. `verify` can read them only if it is enabled. */
  tool?: string;
  /** Undefined if nothing exists at this URI. */
  read(uri: string, call: Call): Promise<CitableText | undefined>;
}

export interface CitableText {
  /** Identifies this version of the text. Search hits carry the same hash. */
  hash: string;
  /** In the order of the text. A quotation may span several. */
  passages: readonly CitablePassage[];
  /** True if the text was truncated. */
  isTruncated?: boolean;
}

export interface CitablePassage {
  text: string;
  /** Location of the passage for readers, such as a page. */
  place?: Record<string, string | number>;
}
