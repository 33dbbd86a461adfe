import { type Token, type TokenHandler, Tokenizer, TokenizerMode } from 'parse5';

/** Elements whose content is raw text, with the tokenizer state that reads it. */
const rawTextElements = new Map<string, Tokenizer['state']>([
  ['script', TokenizerMode.SCRIPT_DATA],
  ['style', TokenizerMode.RAWTEXT],
  ['xmp', TokenizerMode.RAWTEXT],
  ['noembed', TokenizerMode.RAWTEXT],
  ['title', TokenizerMode.RCDATA],
  ['textarea', TokenizerMode.RCDATA],
]);

/** Finds all links of a page, as written, except those marked `nofollow`. Reads the tags without building a tree. */
export function htmlLinks(html: string) {
  const hrefs: string[] = [];
  const robots: string[] = [];
  const found = { canonical: null as string | null, base: null as string | null };
  const handler: TokenHandler = {
    onStartTag({ tagName, attrs }: Token.TagToken) {
      tokenizer.state = rawTextElements.get(tagName) ?? tokenizer.state;
      readTag(tagName, (name) => attrs.find((attribute) => attribute.name === name)?.value);
    },
    onEndTag() {},
    onComment() {},
    onDoctype() {},
    onEof() {},
    onCharacter() {},
    onNullCharacter() {},
    onWhitespaceCharacter() {},
  };
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: false }, handler);
  tokenizer.write(html, true);
  return { hrefs, ...found, ...readRobots(robots.join(',')) };

  function readTag(tag: string, attribute: (name: string) => string | undefined): void {
    switch (tag) {
      case 'a':
      case 'area': {
        const href = attribute('href');
        const isFollowed = !/\b(?:nofollow|ugc|sponsored)\b/i.test(attribute('rel') ?? '');
        if (href !== undefined && isFollowed) hrefs.push(href);
        return;
      }
      case 'frame':
      case 'iframe': {
        const src = attribute('src');
        if (src !== undefined) hrefs.push(src);
        return;
      }
      case 'base':
        found.base ??= attribute('href') ?? null;
        return;
      case 'link':
        if (/(?:^|\s)canonical(?:\s|$)/i.test(attribute('rel') ?? '')) found.canonical ??= attribute('href') ?? null;
        return;
      case 'meta': {
        const content = attribute('content') ?? '';
        if (/^(?:robots|carrel)$/i.test(attribute('name') ?? '')) robots.push(content);
        const redirect = /^\s*[\d.]+\s*[;,]\s*url\s*=\s*["']?([^"']+)/i.exec(content)?.[1];
        if (/^refresh$/i.test(attribute('http-equiv') ?? '') && redirect !== undefined) hrefs.push(redirect);
      }
    }
  }
}

/** Parses the directives of a `robots` meta element or an `X-Robots-Tag` header. */
export function readRobots(directives: string): { noindex: boolean; nofollow: boolean } {
  return {
    noindex: /\b(?:noindex|none)\b/i.test(directives),
    nofollow: /\b(?:nofollow|none)\b/i.test(directives),
  };
}
