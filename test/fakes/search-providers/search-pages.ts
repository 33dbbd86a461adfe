/** A search result, which the functions below print in each search engine's own format. */
export interface FakeResult {
  title: string;
  url: string;
  snippet: string;
}

export const usualResults: readonly FakeResult[] = [
  { title: 'Welcome to Python.org', url: 'https://www.python.org/', snippet: 'Python is a programming language.' },
  { title: 'Python (programming language)', url: 'https://en.wikipedia.org/wiki/Python', snippet: 'A high-level one.' },
  { title: 'The Python Tutorial', url: 'https://docs.python.org/3/tutorial/', snippet: 'It is easy to learn.' },
  { title: 'Python & friends', url: 'https://example.org/a?b=1&c=2', snippet: 'Snakes "and" <more>.' },
  { title: 'Python five', url: 'https://example.org/five', snippet: 'Five.' },
  { title: 'Python six', url: 'https://example.org/six', snippet: 'Six.' },
];

/** Creates DuckDuckGo's page for clients without scripts: an advertisement first, links through `/l/?uddg=`, matches in bold. */
export function duckDuckGoPage(results: readonly FakeResult[]): string {
  const items = results.map(
    ({ title, url, snippet }) => `
    <div class="result results_links results_links_deep web-result ">
      <div class="links_main links_deep result__body">
        <h2 class="result__title">
          <a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=abc123">${escapeHtml(title)}</a>
        </h2>
        <div class="result__extras"><div class="result__extras__url">
          <a class="result__url" href="//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=abc123">example</a>
        </div></div>
        <a class="result__snippet" href="//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=abc123">${escapeHtml(snippet).replace('Python', '<b>Python</b>')}</a>
        <div class="clear"></div>
      </div>
    </div>`,
  );
  return `<!DOCTYPE html><html><head><title>q at DuckDuckGo</title></head><body class="body--html">
    <form id="search_form" action="/html/" method="post"><input name="q"></form>
    <div><div class="serp__results"><div id="links" class="results">
    <div class="result results_links results_links_deep result--ad "><div class="links_main">
      <h2 class="result__title"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=ads.example&amp;u3=x">Buy Python now</a></h2>
      <a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=ads.example">An advertisement</a>
    </div></div>
    ${items.join('\n')}
    ${results.length === 0 ? '<div class="no-results">No results found for <b>q</b>.</div>' : ''}
    </div></div></div></body></html>`;
}

/** DuckDuckGo's page for suspected robots, sent with status 202 instead of results. */
export const duckDuckGoChallenge = `<!DOCTYPE html><html><head><title>DuckDuckGo</title></head><body>
  <form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&cc=botnet" method="POST">
  <div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
  <div class="anomaly-modal__description">Please complete the following challenge to confirm this search was made by a human.</div>
  </form></body></html>`;

/** The challenge page of a CDN, sent with status 200 instead of results. */
export const gatewayChallenge = `<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>
  <div id="cf-challenge-running">Checking your browser</div><script src="/cdn-cgi/challenge-platform/x.js"></script></body></html>`;

export function instantAnswer(results: readonly FakeResult[]): object {
  const [first, ...remaining] = results;
  return {
    Heading: first?.title ?? '',
    AbstractText: first?.snippet ?? '',
    AbstractURL: first?.url ?? '',
    Results: [],
    RelatedTopics: remaining.map(({ title, url, snippet }, index) => {
      const topic = { Text: `${title} - ${snippet}`, FirstURL: url, Result: `<a href="${url}">${title}</a>` };
      return index === 1 ? { Name: 'See also', Topics: [topic] } : topic;
    }),
  };
}

export function serperAnswer(results: readonly FakeResult[]): object {
  const organic = results.map(({ title, url, snippet }, index) => ({ title, link: url, snippet, position: index + 1 }));
  return { searchParameters: { q: 'q', type: 'search', engine: 'google' }, organic, credits: 1 };
}

export function braveAnswer(results: readonly FakeResult[]): object {
  const items = results.map(({ title, url, snippet }) => ({
    title: escapeHtml(title),
    url,
    description: escapeHtml(snippet).replace('Python', '<strong>Python</strong>'),
    language: 'en',
  }));
  const query = { original: 'q', more_results_available: false };
  return items.length === 0
    ? { type: 'search', query }
    : { type: 'search', query, web: { type: 'search', results: items } };
}

export function searxngAnswer(results: readonly FakeResult[], unresponsive: string[] = []): object {
  return {
    query: 'q',
    number_of_results: 0,
    results: results.map(({ title, url, snippet }) => ({ title, url, content: snippet, engine: 'bing', score: 1 })),
    answers: [],
    unresponsive_engines: unresponsive.map((engine) => [engine, 'CAPTCHA']),
  };
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
