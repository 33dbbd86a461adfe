import type { FileToSend } from '../http/send-file.ts';
import { Html, html } from './html.ts';
import type { IconName } from './parts/icon-shapes.ts';
import { icon, notice } from './parts/parts.ts';

export interface Page {
  title: string;
  body: Html;
  status?: number;
  /** More elements for the head of the document. */
  head?: Html;
  /** Reports what was just done; see `toast`. */
  toast?: Html | undefined;
  /** `wide` uses the whole width; `bare` has no menu. */
  layout?: 'wide' | 'bare';
  /** A file to send instead of the page. */
  file?: FileToSend;
  /** The path to redirect to after a change, instead of showing a page. */
  location?: string;
}

export interface MenuEntry {
  path: string;
  name: string;
  icon: IconName;
  group: 'knowledge' | 'server';
  /** True if the page is not in the menu, only linked from other pages. */
  isHidden?: boolean;
  /** True if the page is in the bottom bar on a phone, which has room for four. */
  isOnBar?: boolean;
}

export interface Shell {
  /** The pages of this server, in the order of the menu. */
  menu: readonly MenuEntry[];
  current: string;
  /** The secret path of the visitor's session, which prefixes links and forms; empty if there is none. */
  base: string;
  version: string;
  isReadOnly: boolean;
  canSignOut: boolean;
  /** Changes with the assets, so that browsers can cache them. */
  assetsVersion: string;
}

/** Renders the whole document. */
export function renderPage(page: Page, shell: Shell): string {
  const { title, body, head, toast, layout } = page;
  const { base, isReadOnly, assetsVersion } = shell;
  const isBare = layout === 'bare';
  const document = html`<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>${title} · Carrel</title>
<link rel="stylesheet" href="/console/console.css?${assetsVersion}">
<link rel="icon" href="/console/icon.svg?${assetsVersion}" type="image/svg+xml">
<script type="module" src="/console/console.js?${assetsVersion}"></script>
${head}</head>
<body>
${!isBare && html`<a class="skip" href="#main">Skip to content</a>`}
<div class="${isBare ? 'bare-shell' : 'shell'}">
${!isBare && sidebar(shell)}
<main id="main" tabindex="-1"${layout && html` class="${layout}"`}>
${isReadOnly && !isBare && notice('This server is read-only: nothing can be changed here.')}
${body}
</main>
${!isBare && bottomBar(shell)}
</div>
${toast}
</body>
</html>
`;
  return withBase(document, base);
}

/** Prefixes links and forms with the session's path. Text can't look like a link: its quotation marks are escaped. */
function withBase({ markup }: Html, base: string): string {
  return base === '' ? markup : markup.replace(/ (href|action|formaction|src)="\/(?!console\/|\/)/g, ` $1="${base}/`);
}

const groupNames = { knowledge: 'Knowledge', server: 'Server' };

function sidebar({ menu, current, version, canSignOut, assetsVersion }: Shell): Html {
  return html`<header class="sidebar">
<a class="brand" href="/"><img src="/console/icon.svg?${assetsVersion}" alt="">Carrel</a>
<nav class="stack" aria-label="Pages">${groups(menu, current)}</nav>
<div class="sidebar-foot">${canSignOut && signOut()}<span><kbd>?</kbd> keys · ${version}</span></div>
</header>`;
}

function groups(menu: readonly MenuEntry[], current: string): Html[] {
  return (['knowledge', 'server'] as const).map((group) => {
    const entries = menu.filter((each) => each.group === group);
    if (entries.length === 0) return html``;
    return html`<div class="nav-group"><h2>${groupNames[group]}</h2>${entries.map((entry) => link(entry, current, 'nav-link'))}</div>`;
  });
}

function link({ path, name, icon: sign }: MenuEntry, current: string, className?: string): Html {
  return html`<a${className !== undefined && html` class="${className}"`} href="${path}"${path === current && new Html(' aria-current="page"')}>${icon(sign)}${name}</a>`;
}

function signOut(): Html {
  return html`<form method="post" action="/sign-out"><button class="nav-link">${icon('log-out')}Sign out</button></form>`;
}

/** Renders the bar for phones, with four pages. The others are in a sheet that opens without script. */
function bottomBar({ menu, current, canSignOut }: Shell): Html {
  if (menu.length === 0) return html``;
  const barEntries = menu.filter(({ isOnBar }) => isOnBar);
  const isInSheet = menu.some(({ path, isOnBar }) => path === current && !isOnBar);
  return html`<nav class="bottom-bar" aria-label="Main pages">${barEntries.map((entry) => link(entry, current))}
<button popovertarget="more"${isInSheet && new Html(' aria-current="page"')}>${icon('ellipsis')}More</button></nav>
<div id="more" class="sheet" popover><nav class="stack" aria-label="All pages">${groups(menu, current)}</nav>${canSignOut && signOut()}</div>`;
}
