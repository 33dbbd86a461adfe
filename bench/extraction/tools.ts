import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { readHtml } from '../../src/documents/html/read-html.ts';

/** The compared tools. Each returns the text of a page, with the title first. */
export const tools: Record<string, (html: string) => string> = {
  carrel: (html) => {
    const { title, text } = readHtml(html, { mode: 'text', url: 'https://page.example/a/b', charsMax: 2_000_000 });
    return withTitle(title, text);
  },
  readability: (html) => {
    const article = new Readability(parseHTML(withBody(html)).document).parse();
    return withTitle(article?.title, stripTags(article?.content ?? ''));
  },
  stripping: (html) => stripTags(html),
};

function withTitle(title: string | null | undefined, text: string): string {
  return title && !normalize(text.slice(0, 2000)).includes(normalize(title)) ? `${title}\n${text}` : text;
}

function normalize(text: string): string {
  return text.replace(/\s+/g, '').toLowerCase();
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };

/** Strips tags, with a line break for each block element, so that words do not run together. */
function stripTags(html: string): string {
  return html
    .replace(/<(script|style|noscript|svg|head)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<\/?(?:a|b|i|em|strong|span|code|sup|sub|font|small|cite|kbd)\b[^>]*>/gi, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (entity, decimal, hex, name) =>
      name ? (entities[name] ?? entity) : String.fromCodePoint(Number.parseInt(decimal ?? hex, decimal ? 10 : 16)),
    );
}

/** Adds a body element if the page omits it, as HTML allows: linkedom does not, and Readability would find nothing. */
function withBody(html: string): string {
  return /<body\b/i.test(html) ? html : `<html><head></head><body>${html}</body></html>`;
}
