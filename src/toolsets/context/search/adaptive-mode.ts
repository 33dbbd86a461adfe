/** With fewer words than this, an entry with all of them is meant; with more, one with any of them. */
const orThreshold = 4;

/**
 * 002, `adaptive_fts_mode`: what is told of a hybrid search. `match`: entries with all words come first. `boolean`: the text is
 * a sentence, and no entry need have all of it.
 */
export function adaptiveMode(text: string): 'match' | 'boolean' {
  const words = text.match(/"[^"]*"|\S+/g)?.filter((word) => word.length > 1) ?? [];
  return words.length >= orThreshold ? 'boolean' : 'match';
}
