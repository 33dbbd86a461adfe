import { after, type TestContext } from 'node:test';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findChromium } from './install-chromium.ts';

/** Flags that turn off Chromium's own network requests, so that only the pages' requests are left. */
const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** Script errors, policy violations and requests to other servers. Must stay empty. */
  problems: string[];
}

/** Shared by all tests in a file, because starting one takes longer than most tests. */
let sharedBrowser: Promise<Browser> | undefined;
after(async () => (await sharedBrowser)?.close());

/** Opens a page with its own cookies and storage. Requests to other origins are recorded as problems. */
export async function openBrowser(
  t: Pick<TestContext, 'after'>,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  sharedBrowser ??= launch();
  const context = await (await sharedBrowser).newContext({ baseURL: origin, ...options });
  t.after(() => context.close());
  const problems: string[] = [];
  const page = await context.newPage();
  page.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) problems.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) problems.push(`request to ${request.url()}`);
  });
  return { context, page, problems };
}

async function launch(): Promise<Browser> {
  const program = findChromium();
  if (typeof program === 'string') throw new Error(program);
  return chromium.launch({
    executablePath: program.path,
    args: chromiumFlags,
    env: { ...process.env, ...program.env },
  });
}
