import { assetsVersion } from '../assets.ts';
import { fieldValue, html } from '../html.ts';
import type { Page } from '../page.ts';
import { button, card, emptyState, field, linkButton, pageHeader, problem } from '../parts/parts.ts';

/** Shows the sign-in form. `next` is the page to open after signing in. */
export function signInPage(message: string | undefined, next: string): Page {
  const attributes = { autofocus: true, autocomplete: 'current-password' };
  return {
    title: 'Sign in',
    layout: 'bare',
    body: card(
      html`<p class="brand"><img src="/console/icon.svg?${assetsVersion()}" alt="">Carrel</p><h1>Sign in</h1>
${message !== undefined && problem(message)}
<form class="change sign-in" method="post" action="/sign-in"><input type="hidden" name="next" value="${fieldValue(next)}">${field({ label: 'Token', name: 'token', type: 'password', isRequired: true, attributes })}${button('Sign in', { kind: 'primary' })}</form>
<p class="meta">The token that clients send to this server: <code>CARREL_AUTH_TOKEN</code>, or one made with <code>carrel token add</code>.</p>`,
    ),
  };
}

export function failed(title: string, status: number, message: string): Page {
  return { title, status, body: html`${pageHeader({ title })}${problem(message)}` };
}

export function notFound(): Page {
  return {
    title: 'Not found',
    status: 404,
    body: html`<h1 class="visually-hidden">Not found</h1>${emptyState({
      icon: 'search',
      title: 'Not found',
      text: 'There is no page at this address.',
      actions: linkButton('/', 'Go to search', { icon: 'arrow-right' }),
    })}`,
  };
}
