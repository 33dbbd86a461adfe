/** For callers who may know only of documents with at least one of these tags. */
export interface Within {
  readonly anyTags?: readonly string[] | undefined;
}
