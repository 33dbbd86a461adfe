/** The tools that most agents need, listed by `--tools essential`. */
export const essentialTools: ReadonlySet<string> = new Set([
  ...['find', 'verify'],
  ...[
    'store_context',
    'hybrid_search_context',
    'get_context_by_ids',
    'update_context',
    'delete_context',
    'list_threads',
  ],
  ...['kb_search', 'kb_get', 'kb_list', 'kb_add'],
  ...['web_search', 'fetch_page'],
]);
