/**
 * Tokens of a typical answer of each tool, counted with the o200k encoding, for passages of fifty tokens without metadata.
 * test/answer-tokens.test.ts checks them.
 */
export const typicalAnswers: Readonly<Record<string, number>> = {
  find: 1_040,
  verify: 50,
  store_context: 25,
  hybrid_search_context: 790,
  search_context: 630,
  get_context_by_ids: 120,
  list_threads: 145,
  kb_search: 600,
  kb_add: 30,
  kb_get: 170,
  kb_list: 300,
};
