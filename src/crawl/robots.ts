import robotsParser from 'robots-parser';

export interface RobotsRules {
  allows(url: string): boolean;
  /** Crawl-delay; 0 if there is none. */
  readonly delayMs: number;
  readonly sitemaps: readonly string[];
}

/** Max bytes of a robots.txt. RFC 9309 requires at least 500 KiB. */
export const robotsBytesMax = 512 * 1024;
export const allowAll = '';

/** Max Crawl-delay. A host that asks for more still gets one request an hour. */
const delayMaxMs = 3_600_000;

export function readRobots(text: string, origin: string, userAgent: string): RobotsRules {
  // The package is CommonJS, but its types describe an ES module.
  const parse = robotsParser as unknown as typeof robotsParser.default;
  const rules = parse(`${origin}/robots.txt`, text);
  const delay = Number(rules.getCrawlDelay(userAgent) ?? 0);
  return {
    allows: (url) => rules.isAllowed(url, userAgent) !== false,
    delayMs: Number.isFinite(delay) ? Math.min(delayMaxMs, Math.max(0, delay) * 1000) : 0,
    sitemaps: rules.getSitemaps(),
  };
}
