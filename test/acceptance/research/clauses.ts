/**
 * Every testable statement of seed 004 (the research server), in its words. Tests cite the names; `clauses.test.ts` fails
 * for a clause without a test.
 */
export const clauses: Readonly<Record<string, string>> = {
  '004 overview/tools': 'Tools for web search, page fetching, and note management via JSON-RPC 2.0.',
  '004 overview/limiter': 'Rate Limiter (sliding window per category)',

  '004 config/.env': 'Create a `.env` file',
  '004 config/PORT': 'PORT, number, 3001, Server port',
  '004 config/HOST': 'HOST, string, localhost, Server host',
  '004 config/LOG_LEVEL': 'LOG_LEVEL, string, info, Log level: debug, info, warn, error',
  '004 config/SEARCH_PROVIDER': 'SEARCH_PROVIDER, string, duckduckgo, Search provider: duckduckgo, serper',
  '004 config/SERPER_API_KEY': 'SERPER_API_KEY, string, Serper API key (required for serper)',
  '004 config/MAX_SEARCH_RESULTS': 'MAX_SEARCH_RESULTS, number, 5, Maximum search results',
  '004 config/SEARCH_TIMEOUT_MS': 'SEARCH_TIMEOUT_MS, number, 10000, Search timeout',
  '004 config/MAX_PAGE_SIZE': 'MAX_PAGE_SIZE, number, 50000, Maximum page content size',
  '004 config/FETCH_TIMEOUT_MS': 'FETCH_TIMEOUT_MS, number, 15000, Fetch timeout',
  '004 config/USER_AGENT': 'USER_AGENT, string, ResearchCopilot/1.0, HTTP User-Agent',
  '004 config/DB_PATH': 'DB_PATH, string, ./data/notes.db, SQLite database path',
  '004 config/RATE_LIMIT_SEARCH': 'RATE_LIMIT_SEARCH, number, 10, Search requests per minute',
  '004 config/RATE_LIMIT_FETCH': 'RATE_LIMIT_FETCH, number, 30, Fetch requests per minute',
  '004 config/RATE_LIMIT_NOTES': 'RATE_LIMIT_NOTES, number, 50, Note operations per minute',

  '004 api/health': '/health, GET: {status, timestamp, version}',
  '004 api/mcp': '/mcp, POST, JSON-RPC 2.0 endpoint',
  '004 api/request': 'All tool calls use JSON-RPC 2.0 format: tools/call with name, arguments, id',
  '004 api/success': 'Success Response: {jsonrpc, result, id}',
  '004 api/error': 'Error Response: {jsonrpc, error: {code: -32000, message, data: {code, details}}, id}',
  '004 api/tools-list': 'List Available Tools: tools/list',

  '004 web_search/query': 'query, string, required, Search query',
  '004 web_search/limit': 'limit, number, default 3, Max results (1-5)',
  '004 web_search/provider': 'provider, string, default Config, Search provider',
  '004 web_search/example': 'The curl call',
  '004 web_search/response': '{results: [{title, url, snippet}], provider, query}',

  '004 fetch_page/url': 'url, string, required, URL to fetch',
  '004 fetch_page/max_chars': 'max_chars, number, default 8000, Max content length',
  '004 fetch_page/extract_mode': 'extract_mode, string, default text, Output format (text or markdown)',
  '004 fetch_page/example': 'The curl call',
  '004 fetch_page/response': '{url, title, content, content_length, truncated}',
  '004 fetch_page/ssrf': 'SSRF protection blocks private IP ranges',
  '004 fetch_page/rebinding': 'DNS rebinding protection',
  '004 fetch_page/redirects': 'Redirect validation',
  '004 fetch_page/content-type': 'Content-Type verification',

  '004 save_note/title': 'title, string, required, Note title (max 200 chars)',
  '004 save_note/content': 'content, string, required, Note content (max 50000 chars)',
  '004 save_note/tags': 'tags, string[], default [], Tags for categorization (max 10)',
  '004 save_note/source_urls': 'source_urls, string[], default [], Source URLs (max 20)',
  '004 save_note/example': 'The curl call',
  '004 save_note/response': '{note: {id, title, content, tags, source_urls, created_at, updated_at}}',

  '004 list_notes/query': 'query, string, Full-text search query',
  '004 list_notes/tags': 'tags, string[], Filter by tags (AND logic)',
  '004 list_notes/limit': 'limit, number, default 20, Max results (1-100)',
  '004 list_notes/offset': 'offset, number, default 0, Pagination offset',
  '004 list_notes/example': 'The two curl calls',
  '004 list_notes/response':
    '{notes: [{id, title, tags, created_at, snippet}], count, total_count, has_more, limit, offset}',

  '004 get_note/id': 'id, string, required, Note UUID',
  '004 get_note/example': 'The curl call',
  '004 get_note/response': '{note}',

  '004 database/full-text': 'SQLite with FTS5 for full-text search; the index is kept in sync automatically',
  '004 database/location': 'Override with DB_PATH environment variable',

  '004 limits/categories': 'search: web_search; fetch: fetch_page; notes: save_note, list_notes, get_note',
  '004 limits/window': 'The server implements sliding window rate limiting per tool category',
  '004 limits/response':
    '-32000, "Rate limit exceeded", {code: rate_limit_exceeded, details: {category, limit, window: "1 minute", retryAfter}}',

  '004 errors/search_failed': 'Search provider error',
  '004 errors/search_no_results': 'No search results found',
  '004 errors/fetch_failed': 'Failed to fetch URL',
  '004 errors/fetch_timeout': 'Fetch operation timed out',
  '004 errors/fetch_invalid_url': 'Invalid or blocked URL',
  '004 errors/note_not_found': 'Note ID not found',
  '004 errors/note_save_failed': 'Failed to save note',
  '004 errors/note_invalid': 'Invalid note data',
  '004 errors/rate_limit_exceeded': 'Rate limit hit',
  '004 errors/validation_error': 'Input validation failed',
};

/** Statements of 004 that this product deviates from, with the reason. */
export const setAside: Readonly<Record<string, string>> = {
  'Tech stack (Node 18, Express, Vitest) and project structure': 'how it is built inside is not part of the outside',
  'Installation in mcp_server/': 'the role is part of one package: npm ci && npm start, or carrel research',
  'HOST=localhost': 'bound as 127.0.0.1, because a name may resolve to something else; localhost in URLs works',
  'DB_PATH default ./data/notes.db':
    'nothing is written into the current folder unasked: the default is in the data folder',
  'Tables and triggers by name': 'the file is shared by all toolsets, and its index is its own',
  'Backup by cp': 'a copy of a live SQLite file loses what is in its log; sqlite3 .backup is right',
};
