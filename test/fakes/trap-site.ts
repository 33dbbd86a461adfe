import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { type LoopbackServer, type Owner, serveHttp } from './loopback-server.ts';

export interface TrapSite extends LoopbackServer {
  /** Requested paths with queries, in order. */
  requests: string[];
  /** Paths that were answered with 304, because the request had the validator of the current version. */
  unchanged: string[];
  /** Returns the peak number of concurrent requests. */
  concurrencyMax(): number;
  userAgents: Set<string>;
  /** Changes the text of `/docs/p/<n>.html`. */
  change(page: number): void;
  /** Makes `/docs/p/<n>.html` answer 404. */
  remove(page: number): void;
  /** Resolves after this many requests. */
  after(count: number): Promise<void>;
  /** Delays answers until the promise resolves. */
  hold(until: Promise<void>): void;
}

const words =
  'crane stone wheel rope tower harbour ladder lantern barrel anchor window bridge garden copper timber'.split(' ');

/** Returns sentences that no other page has. */
export function textOf(name: string): string {
  const bytes = createHash('sha512').update(name).digest();
  const sentences = Array.from({ length: 8 }, (_, line) => {
    const picked = Array.from(
      { length: 7 },
      (__, at) => `${words[(bytes[line * 7 + at] ?? 0) % words.length]}${(bytes[line * 7 + at] ?? 0) % 31}`,
    );
    return `<p>About ${name}: the ${picked.join(' ')} stands here.</p>`;
  });
  return sentences.join('\n');
}

function page(title: string, body: string, head = ''): string {
  return `<!DOCTYPE html><html lang="en"><head><title>${title}</title>${head}</head><body><h1>${title}</h1>${body}</body></html>`;
}

const link = (href: string): string => `<a href="${href}">${href}</a>`;

/** Starts a site with `pages` ordinary pages, one page with `links` links below /docs/, and all kinds of crawler traps. */
export async function startTrapSite(
  t: Owner,
  { pages, links = 10 }: { pages: number; links?: number },
): Promise<TrapSite> {
  const requests: string[] = [];
  const unchanged: string[] = [];
  const userAgents = new Set<string>();
  const versions = new Map<number, number>();
  const removed = new Set<number>();
  let [running, peak, busyAnswersLeft] = [0, 0, 2];
  let answerGate: Promise<void> | undefined;
  const watchers = new Set<() => void>();

  const manyLinks = Array.from({ length: links }, (_, item) => `<a href="?item=${item}">${item}</a> `).join('');
  const traps = [
    ...[
      'calendar?month=2026-01',
      `s/${'0'.repeat(32)}/`,
      'print?of=1',
      'to-canonical',
      'old',
      'loop-a',
      'chain/one',
      'many',
    ],
    ...[
      'slow',
      'endless',
      'busy',
      'noindexed',
      'header-noindexed',
      'private/secret',
      'notes.md',
      'latin',
      'gone',
      'missing',
    ],
    ...[
      'p/1.html?utm_source=mail&fbclid=x#part',
      'p/1.html;jsessionid=42',
      'picture.png',
      'empty',
      'canonical-loop-a',
      'bad-canonical',
    ],
  ].map((path) => link(`/docs/${path}`));

  const staticPages: Record<string, string> = {
    '/docs/': page(
      'Start',
      `${textOf('start')}${link('/docs/p/1.html')}${traps.join('')}
      <a rel="nofollow" href="/docs/nofollowed">no</a><a href="http://127.0.0.1:1/elsewhere">out</a><a href="/above.html">up</a>
      <a href="mailto:a@example.org">mail</a><form action="/docs/submit" method="post"><button>Go</button></form>
      <nav hidden>${link(`/docs/p/${pages}.html`)}</nav><script>"<a href='/docs/scripted'>"</script>`,
    ),
    '/docs/many': page('Many', `${textOf('many')}${manyLinks}`),
    '/docs/to-canonical': page('Copy', textOf('copy'), '<link rel="canonical" href="/docs/p/2.html">'),
    '/docs/canonical-loop-a': page('A', textOf('loop a'), '<link rel="canonical" href="/docs/canonical-loop-b">'),
    '/docs/canonical-loop-b': page('B', textOf('loop b'), '<link rel="canonical" href="/docs/canonical-loop-a">'),
    '/docs/bad-canonical': page('Bad', textOf('bad canonical'), '<link rel="canonical" href="/docs/gone-for-good">'),
    '/docs/noindexed': page(
      'Hidden',
      textOf('hidden') + link('/docs/behind-noindex'),
      '<meta name="robots" content="noindex">',
    ),
    '/docs/behind-noindex': page('Behind', textOf('behind')),
    '/docs/header-noindexed': page('Header', textOf('header')),
    '/docs/empty': page('', '').replace('<h1></h1>', ''),
    '/docs/print': page('Printed: Page 1', `<p>Printed version.</p>${ordinaryBody(1, 0)}`),
  };

  function ordinaryBody(number: number, version: number): string {
    const children = [2 * number, 2 * number + 1].filter((child) => child <= pages);
    const text = `${textOf(`page ${number} version ${version}`)}${textOf(`page ${number} again`)}`;
    return `${text}${children.map((child) => link(`/docs/p/${child}.html`)).join('')}`;
  }

  function send(
    response: ServerResponse,
    status: number,
    body: string | Buffer,
    headers: Record<string, string> = {},
  ): void {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(body);
  }

  /** Sends text, as fast as the client reads it, until the client hangs up. */
  function sendEndless(response: ServerResponse): void {
    Readable.from(endlessText()).pipe(response);
  }

  function* endlessText(): Generator<string> {
    for (;;) yield '<p>more</p>'.repeat(20_000);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://site');
    const origin = `http://${request.headers.host}`;
    const redirect = (location: string) => send(response, 302, '', { location });
    if (pathname === '/robots.txt') {
      const rules = 'User-agent: *\nDisallow: /docs/private/\nAllow: /docs/\n\nUser-agent: other\nDisallow: /\n';
      return send(response, 200, `${rules}Sitemap: ${origin}/sitemap-index.xml\n`, { 'content-type': 'text/plain' });
    }
    if (pathname === '/sitemap-index.xml') {
      return send(
        response,
        200,
        `<?xml version="1.0"?><sitemapindex><sitemap><loc>${origin}/map.xml.gz</loc></sitemap></sitemapindex>`,
        { 'content-type': 'application/xml' },
      );
    }
    if (pathname === '/map.xml.gz') {
      const entries = Array.from(
        { length: 5 },
        (_, at) =>
          `<url><loc>${origin}/docs/p/${at + 1}.html</loc><lastmod>2026-01-0${(versions.get(at + 1) ?? 0) + 1}</lastmod></url>`,
      );
      return send(response, 200, gzipSync(`<?xml version="1.0"?><urlset>${entries.join('')}</urlset>`), {
        'content-type': 'application/gzip',
      });
    }
    if (pathname.startsWith('/feed')) {
      const urls = [3, 4].map((number) => `${origin}/docs/p/${number}.html`);
      if (pathname === '/feed.json') {
        const feed = {
          version: 'https://jsonfeed.org/version/1.1',
          title: 'News',
          items: urls.map((url) => ({ id: url, url })),
        };
        return send(response, 200, JSON.stringify(feed), { 'content-type': 'application/feed+json' });
      }
      const items =
        pathname === '/feed.atom'
          ? `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>${urls.map((url) => `<entry><title>x</title><link href="${url}"/></entry>`).join('')}</feed>`
          : `<rss version="2.0"><channel><title>News</title>${urls.map((url) => `<item><title>x</title><link>${url}</link></item>`).join('')}</channel></rss>`;
      return send(response, 200, `<?xml version="1.0"?>${items}`, { 'content-type': 'application/xml' });
    }
    const number = Number(/^\/docs\/p\/(\d+)\.html$/.exec(pathname)?.[1] ?? 0);
    if (number >= 1 && number <= pages && search === '') {
      if (removed.has(number)) return send(response, 404, 'no');
      const version = versions.get(number) ?? 0;
      const etag = `"${number}-${version}"`;
      if (request.headers['if-none-match'] === etag) {
        unchanged.push(pathname);
        return send(response, 304, '', { etag });
      }
      return send(response, 200, page(`Page ${number}`, ordinaryBody(number, version)), { etag });
    }
    const calendar = /^(\d{4})-(\d{2})$/.exec(searchParams.get('month') ?? '');
    if (pathname === '/docs/calendar' && calendar !== null) {
      const month = Number(calendar[1]) * 12 + Number(calendar[2]) - 1;
      const months = Array.from({ length: 24 }, (_, at) => month + at - 11).map(
        (each) => `${Math.floor(each / 12)}-${String((each % 12) + 1).padStart(2, '0')}`,
      );
      return send(
        response,
        200,
        page(
          `Month ${calendar[0]}`,
          textOf(`month ${calendar[0]}`) + months.map((each) => link(`/docs/calendar?month=${each}`)).join(''),
        ),
      );
    }
    if (/^\/docs\/s\/[0-9a-f]{32}\/$/.test(pathname)) {
      const next = Array.from({ length: 5 }, () => `<a href="/docs/s/${randomBytes(16).toString('hex')}/">Next</a>`);
      return send(response, 200, page('Session', textOf('session') + next.join('')));
    }
    if (pathname.startsWith('/docs/chain/')) return redirect(`${pathname}x`);
    switch (pathname) {
      case '/docs':
        return redirect('/docs/');
      case '/docs/old':
        return redirect('/docs/p/3.html');
      case '/docs/loop-a':
        return redirect('/docs/loop-b');
      case '/docs/loop-b':
        return redirect('/docs/loop-a');
      case '/docs/slow':
        return;
      case '/docs/endless':
        response.writeHead(200, { 'content-type': 'text/html' });
        return sendEndless(response);
      case '/docs/busy':
        busyAnswersLeft -= 1;
        return busyAnswersLeft > 0
          ? send(response, 503, 'later', { 'retry-after': '1' })
          : send(response, 200, page('Busy', textOf('busy')));
      case '/docs/gone':
      case '/docs/gone-for-good':
        return send(response, 410, 'gone');
      case '/docs/notes.md':
        return send(response, 200, '# Notes\n\nA file in Markdown about sextants.', {
          'content-type': 'text/markdown',
        });
      case '/docs/latin':
        return send(
          response,
          200,
          Buffer.from(page('Café', `<p>Crème brûlée at the café.</p>${textOf('latin')}`), 'latin1'),
          { 'content-type': 'text/html; charset=iso-8859-1' },
        );
      case '/docs/header-noindexed':
        return send(response, 200, staticPages[pathname] ?? '', { 'x-robots-tag': 'noindex' });
      case '/above.html':
        return send(response, 200, page('Above', textOf('above')));
    }
    const body = pathname === '/docs/many' && search !== '' ? undefined : staticPages[pathname];
    if (body !== undefined) return send(response, 200, body);
    // A soft 404: missing pages answer with 200.
    send(response, 200, page('Sorry', `<p>Nothing is at this place.</p>${textOf('sorry')}${link('/docs/')}`));
  }

  const server = await serveHttp(t, async (request, response) => {
    requests.push(request.url ?? '');
    for (const notify of watchers) notify();
    userAgents.add(request.headers['user-agent'] ?? '');
    running += 1;
    peak = Math.max(peak, running);
    response.on('close', () => {
      running -= 1;
    });
    await answerGate;
    await answer(request, response);
  });
  return {
    ...server,
    requests,
    unchanged,
    userAgents,
    concurrencyMax: () => peak,
    change: (number) => void versions.set(number, (versions.get(number) ?? 0) + 1),
    remove: (number) => void removed.add(number),
    after(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      watchers.add(() => requests.length >= count && resolve());
      return promise;
    },
    hold: (until) => {
      answerGate = until;
    },
  };
}
