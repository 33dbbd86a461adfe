import { newToken } from '../../access/new-token.ts';
import { CarrelError } from '../../base/errors.ts';
import { isUnrestricted, type Principal, type Rights } from '../../base/rights.ts';
import type { StoredToken, TokenStore } from '../../storage/tokens/token.ts';
import type { Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import {
  actionsLabel,
  badge,
  button,
  card,
  checkbox,
  confirmButton,
  copyable,
  emptyState,
  field,
  linkButton,
  notice,
  pageHeader,
  pageNotFound,
  select,
  table,
  time,
  toast,
} from '../parts/parts.ts';

export interface TokenDeps {
  /** Undefined if the server has no database. */
  tokens?: (() => Promise<Pick<TokenStore, 'list' | 'add' | 'revoke' | 'any'>>) | undefined;
  toolsetNames: readonly string[];
  isReadOnly: boolean;
  principal: Principal | undefined;
}

const path = '/tokens';

/**
 * True if the visitor may see, add and revoke tokens. This needs full rights that don't expire, because an expiring token must
 * not create a permanent one.
 */
export function mayManageTokens({ tokens, isReadOnly, principal }: Omit<TokenDeps, 'toolsetNames'>): boolean {
  if (tokens === undefined || isReadOnly) return false;
  if (principal === undefined) return true;
  const { rights, expiresAt } = principal;
  return isUnrestricted(rights) && rights.readOnly !== true && expiresAt === undefined;
}

export async function tokensPage({ query }: Visit, deps: TokenDeps): Promise<Page> {
  const store = await storeOf(deps);
  const [tokens, any] = await Promise.all([store.list(), store.any()]);
  const add = linkButton(`${path}/new`, 'Add token', { kind: 'primary', icon: 'plus' });
  return {
    title: 'Tokens',
    toast: query.get('done') === 'revoked' ? toast('Token revoked. Its sessions have ended.') : undefined,
    body: html`${pageHeader({
      title: 'Tokens',
      meta: 'Each client has its own token, with the rights it needs. Tokens are stored as hashes.',
      ...(tokens.length > 0 ? { actions: add } : {}),
    })}
${!any && deps.principal === undefined && notice(firstWarning, 'warn')}
${
  tokens.length === 0
    ? emptyState({
        icon: 'key-round',
        title: 'No tokens',
        text: any
          ? 'All tokens have been revoked.'
          : 'Anyone who can reach this server may do everything. By default, only this machine can reach it.',
        actions: add,
      })
    : table({
        caption: 'Tokens',
        columns: [
          { label: 'Name' },
          { label: 'Rights' },
          { label: 'Added', noWrap: true },
          { label: 'Last used', noWrap: true },
          { label: 'Expires', noWrap: true },
          { label: actionsLabel, noWrap: true },
        ],
        rows: tokens.map((token) => [
          html`<b>${token.name}</b>${deps.principal?.identity === `token ${token.id}` && html` ${badge('You', 'accent')}`}`,
          rightsCell(token.rights),
          time(token.createdAt),
          token.lastUsedAt === undefined ? 'never' : time(token.lastUsedAt),
          expiryCell(token),
          confirmButton({
            id: `revoke-${token.id}`,
            label: 'Revoke',
            question: `Revoke ${token.name}?`,
            detail: 'Clients with this token lose access immediately. This cannot be undone.',
            action: `${path}/${encodeURIComponent(token.name)}/revoke`,
            style: { isSmall: true, kind: 'quiet' },
          }),
        ]),
      })
}`,
  };
}

const firstWarning = html`Once a token exists, every HTTP client needs one, including this console. <code>carrel token revoke --all</code> undoes that.`;

function rightsCell(rights: Rights): Html {
  const { toolsets, readOnly, collections, threads } = rights;
  const parts = (
    [
      ['Toolsets', toolsets],
      ['Collections', collections],
      ['Threads', threads],
    ] as const
  ).filter(([, names]) => names !== undefined);
  return html`<div class="rights">${badge(readOnly === true ? 'Read' : 'Read and write', readOnly === true ? 'neutral' : 'info')}${
    parts.length === 0
      ? html`<span class="meta">everything</span>`
      : parts.map(([name, names]) => html`<span class="meta">${name}: ${(names ?? []).join(', ')}</span>`)
  }</div>`;
}

function expiryCell({ expiresAt }: StoredToken): Html {
  if (expiresAt === undefined) return html`<span class="meta">never</span>`;
  return Date.parse(expiresAt) <= Date.now() ? badge('Expired', 'warn') : time(expiresAt);
}

/** Shows the form for a new token. */
export async function newTokenPage({ subpath }: Visit, deps: TokenDeps): Promise<Page> {
  if (subpath !== 'new') throw pageNotFound();
  const store = await storeOf(deps);
  const isFirst = deps.principal === undefined && !(await store.any());
  return {
    title: 'Add a token',
    body: html`${pageHeader({ title: 'Add a token', trail: [{ href: path, label: 'Tokens' }] })}
${isFirst && notice(firstWarning, 'warn')}
<div class="narrow">${card(html`<form class="change" method="post" action="${path}/new">
<div class="form-grid">${field({ label: 'Name', name: 'name', placeholder: 'laptop', isRequired: true, hint: 'Shown in the log, the metrics and here.', attributes: { autofocus: true, maxlength: 64, autocomplete: 'off' } })}
${select({
  label: 'Expires',
  name: 'expires',
  all: 'Never',
  options: [
    { value: '24h', label: 'In a day' },
    { value: '30d', label: 'In 30 days' },
    { value: '90d', label: 'In 90 days' },
    { value: '52w', label: 'In a year' },
  ],
})}</div>
${checkbox('Read only: this token changes nothing', 'read-only')}
<fieldset><legend class="label">Toolsets</legend><div class="row">${deps.toolsetNames.map((name) => checkbox(name, 'toolsets', { value: name }))}</div><p class="hint">Choose none to allow all.</p></fieldset>
<div class="form-grid">${field({ label: 'Collections', name: 'collections', placeholder: 'All collections', hint: 'Names, separated by commas.' })}
${field({ label: 'Threads', name: 'threads', placeholder: 'All threads', hint: 'Names, separated by commas.' })}</div>
${button('Add token', { kind: 'primary' })}</form>`)}</div>`,
  };
}

/** Adds or revokes a token. Returns a page that shows the new token once, or the path of the next page. */
export async function changeToken({ subpath, form }: Visit, deps: TokenDeps): Promise<string | Page> {
  const store = await storeOf(deps);
  if (subpath === 'new') return addToken(store, form, deps);
  const [, name] = /^([\w.-]{1,64})\/revoke$/.exec(subpath) ?? [];
  if (name === undefined) throw pageNotFound();
  if (!(await store.revoke({ name }))) throw new CarrelError('resource_not_found', 'This token was already revoked.');
  return `${path}?done=revoked`;
}

async function addToken(
  store: Pick<TokenStore, 'add'>,
  form: URLSearchParams,
  { toolsetNames, principal }: TokenDeps,
): Promise<Page> {
  const name = (form.get('name') ?? '').trim();
  const toolsets = form.getAll('toolsets');
  const { token, stored } = newToken(
    {
      name,
      readOnly: form.get('read-only') !== null,
      toolsets: toolsets.length === 0 ? undefined : toolsets,
      collections: namesIn(form.get('collections')),
      threads: namesIn(form.get('threads')),
      expires: form.get('expires') || undefined,
    },
    {
      toolsetNames,
      now: new Date(),
      fault: (field, problem) =>
        new CarrelError('invalid_arguments', `${field.charAt(0).toUpperCase()}${field.slice(1)} ${problem}`),
    },
  );
  if (!(await store.add(stored))) {
    throw new CarrelError(
      'invalid_arguments',
      `A token named ${name} already exists. Choose another name, or revoke it first.`,
    );
  }
  return {
    title: 'Token added',
    body: html`${pageHeader({ title: 'Token added', trail: [{ href: path, label: 'Tokens' }] })}
${card(html`<p>This is the token of <b>${name}</b>. Copy it now: it is not stored and cannot be shown again.</p>
${copyable('token', token)}
<p class="meta">Clients send it as <code>Authorization: Bearer</code>.</p>`)}
${principal === undefined && notice('From now on every HTTP client needs a token, including this console: sign in with it.', 'warn')}
<p class="row">${linkButton(path, 'Done')}${linkButton('/connect', 'Connect a client', { icon: 'plug' })}</p>`,
  };
}

/** Returns the names in a field; undefined if it is empty, which means all. Empty names are included, so that they are rejected. */
function namesIn(field: string | null): string[] | undefined {
  return field === null || field.trim() === '' ? undefined : field.split(',');
}

async function storeOf(deps: TokenDeps): Promise<Pick<TokenStore, 'list' | 'add' | 'revoke' | 'any'>> {
  if (deps.tokens === undefined || !mayManageTokens(deps)) throw pageNotFound();
  return deps.tokens();
}
