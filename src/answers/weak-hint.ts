/** Said where weak results were left out and none are shown: an empty list must not be taken for an empty store. */
export function weakHint(omitted: number, one: string, many: string): string {
  const found = omitted === 1 ? `One ${one} was` : `${omitted} ${many} were`;
  return `Nothing here answers this. ${found} too weak a match to show; include_weak: true shows them.`;
}
