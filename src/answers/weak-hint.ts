/** Explains an empty result when only low-relevance hits exist. */
export function weakHint(omitted: number, one: string, many: string): string {
  const hidden = omitted === 1 ? `One ${one} of low relevance is` : `${omitted} ${many} of low relevance are`;
  return `No relevant results. ${hidden} hidden; include_weak: true shows them.`;
}
