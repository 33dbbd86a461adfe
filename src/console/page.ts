import { Html, html } from './html.ts';

export interface Page {
  title: string;
  body: Html;
  status?: number;
  /** Where to go instead of showing anything, after a change. */
  location?: string;
}

export interface Shell {
  /** The pages that this server has, in the order of the menu. */
  menu: readonly { path: string; name: string }[];
  current: string;
  /** The secret path of the visitor's session, which links and forms keep; empty where there is none. */
  base: string;
  version: string;
  isReadOnly: boolean;
  canSignOut: boolean;
}

/** The whole document of a page. */
export function renderPage({ title, body }: Page, shell: Shell): string {
  const { menu, current, base, version, isReadOnly, canSignOut } = shell;
  const links = menu.map(
    ({ path, name }) =>
      html`<li><a href="${path}"${path === current ? new Html(' aria-current="page"') : ''}>${name}</a></li>`,
  );
  const page = html`<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Carrel</title>
<link rel="stylesheet" href="/console/console.css">
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
<script type="module" src="/console/console.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a class="brand" href="/">Carrel</a>
<nav aria-label="Pages"><ul>${links}</ul></nav>
${canSignOut && html`<form method="post" action="/sign-out"><button class="plain">Sign out</button></form>`}
</header>
<main id="main" tabindex="-1">
${isReadOnly && html`<p class="note" role="note">Read-only: this server shows everything and changes nothing.</p>`}
${body}
</main>
<footer>Carrel ${version} · <kbd>/</kbd> search · <kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>?</kbd> keys</footer>
</body>
</html>
`;
  return withBase(page, base);
}

/** Links and forms of a session stay below its path. Text can't look like one: its quotation marks are escaped. */
function withBase({ markup }: Html, base: string): string {
  return base === '' ? markup : markup.replace(/ (href|action|formaction|src)="\/(?!console\/|\/)/g, ` $1="${base}/`);
}
