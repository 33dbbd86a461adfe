import type { Call } from './call.ts';

/** Texts that can be cited by a URI, as they are now. */
export interface CitableTexts {
  /** What their URIs begin with. */
  uriPrefixes: readonly string[];
  /** The tool that asks other servers for them as well. Where it is disabled, they are not read in this way either. */
  tool?: string;
  /** Undefined if there is nothing at this URI (any more). */
  read(uri: string, call: Call): Promise<CitableText | undefined>;
}

export interface CitableText {
  /** Another text has another one. Hits carry the same. */
  hash: string;
  /** In order; a quotation may begin in one and end in a later one. */
  passages: readonly CitablePassage[];
  /** Whether the text ends before its original does. */
  isCut?: boolean;
}

export interface CitablePassage {
  text: string;
  /** Names and numbers that lead a reader there, such as a page. */
  place?: Record<string, string | number>;
}
