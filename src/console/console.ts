import type { IncomingMessage, ServerResponse } from 'node:http';
import { BoundedMap } from '../base/bounded-map.ts';
import { isCarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { version } from '../base/package-info.ts';
import { fullRights, type Principal, rightsKey } from '../base/rights.ts';
import { readBody } from '../http/body.ts';
import { parseForm } from '../http/form.ts';
import { respondEmpty, respondJson, respondText } from '../http/respond.ts';
import { sendFile } from '../http/send-file.ts';
import { assetsVersion, sendAsset, sendHtml } from './assets.ts';
import type { ConsoleTools, Visit } from './console-tools.ts';
import { fieldValue, html } from './html.ts';
import { createPace, type Pace } from './pace.ts';
import { type Page, renderPage } from './page.ts';
import { button, card, emptyState, field, linkButton, pageHeader, problem } from './parts/parts.ts';
import {
  type About,
  actions,
  isOffered,
  isOpenTo,
  type Room,
  type RoomDeps,
  rooms,
  type ShownConfig,
} from './rooms.ts';
import { createSignIns, splitBase } from './sign-in.ts';

export interface ConsoleConfig extends ShownConfig {
  isReadOnly: boolean;
  /** The path of MCP on this server. */
  mcpPath: string;
}

export interface ConsoleDeps extends RoomDeps {
  tools(visitor: ConsoleVisitor): ConsoleTools;
  log: Logger;
}

export interface ConsoleVisitor {
  /** The signed-in principal, if sign-in is required. */
  principal: Principal | undefined;
  address: string;
  /** The address at which the visitor reached this server. */
  origin: string;
  signal: AbortSignal;
}

/** What the HTTP service knows about a request. */
export interface Entrance {
  address: string;
  /** The principal proven by the request's token, or none if no token is required. Undefined: access denied. */
  access(): Promise<{ principal: Principal | undefined } | undefined>;
  /** Wrong tokens count against the address. */
  checkToken(token: string): Promise<TokenCheck>;
  /** Whether the principal's token is still valid. */
  isValid(principal: Principal): Promise<boolean>;
}

export type TokenCheck = { principal: Principal | undefined } | 'wrong' | 'too many';

/** The web console: pages for people, built on the tools' answers. */
export interface Console {
  /** Answers the request if its path is one of the console's. Host and Origin are already checked. */
  handle(request: IncomingMessage, response: ServerResponse, entrance: Entrance): Promise<boolean>;
}

const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-frame-options': 'DENY',
  // With `no-referrer`, browsers would send our own forms with `Origin: null`.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Max bytes of a form with a text to edit: two million characters, each up to nine bytes when URL-encoded. */
const textFormBytesMax = 20 * 1024 * 1024;
const formBytesMax = 64 * 1024;
const pacesMax = 100;
/** Max bytes of the sign-in form, which anybody may send. */
const tokenBytesMax = 16 * 1024;

export function createConsole(config: ConsoleConfig, deps: ConsoleDeps): Console {
  const signIns = createSignIns();
  /** One per set of rights: each sees a different part of the queue. */
  const paces = new BoundedMap<string, Pace>(pacesMax);
  const paceOf = (principal: Principal | undefined): Pace => {
    const key = rightsKey(principal?.rights ?? fullRights);
    const pace = paces.get(key) ?? createPace();
    paces.set(key, pace);
    return pace;
  };

  const viewerOf = (principal: Principal | undefined) => ({
    principal,
    tokens: deps.tokens,
    isReadOnly: config.isReadOnly,
  });

  const shellOf = (current: string, { tools, principal, base, canSignOut }: Known) => ({
    base,
    menu: rooms.filter((room) => !room.isHidden && isOpenTo(room, viewerOf(principal)) && isOffered(room, tools)),
    current,
    version,
    isReadOnly: config.isReadOnly || principal?.rights.readOnly === true,
    canSignOut,
    assetsVersion: assetsVersion(),
  });

  const send = async (
    request: IncomingMessage,
    response: ServerResponse,
    page: Page,
    current: string,
    known: Known,
    headers: Record<string, string> = {},
  ): Promise<void> => {
    if (page.file !== undefined) await sendFile(page.file, request, response);
    else if (page.location !== undefined) {
      respondEmpty(response, 303, { ...securityHeaders, location: `${known.base}${page.location}` });
    } else {
      const markup = renderPage(page, shellOf(current, known));
      await sendHtml(page.status ?? 200, markup, request, response, { ...securityHeaders, ...headers });
    }
  };

  return {
    async handle(request, response, entrance) {
      const url = URL.parse(request.url ?? '', 'http://console');
      const method = request.method ?? '';
      if (url === null || !['GET', 'HEAD', 'POST'].includes(method)) return false;
      const { base, rest: path } = splitBase(url.pathname);
      if (path.startsWith('/console/') && method !== 'POST') {
        return sendAsset(path.slice('/console/'.length), request, response, securityHeaders);
      }
      const room = rooms.findLast(
        (each) => path === each.path || (each.path !== '/' && path.startsWith(`${each.path}/`)),
      );
      const action = method === 'POST' ? actions[path] : undefined;
      const isSign = path === '/sign-in' || (method === 'POST' && path === '/sign-out');
      const isLost = room === undefined && action === undefined && !isSign;
      if (isLost && !wantsPage(request, path)) return false;

      const gone = new AbortController();
      response.on('close', () => gone.abort());
      const origin = originOf(request);
      const signedIn = await whoSignedIn(request, base, entrance);
      const access = signedIn === undefined ? await entrance.access() : { principal: signedIn };
      const principal = access?.principal;
      const tools = deps.tools({ principal, address: entrance.address, origin, signal: gone.signal });
      const canSignOut = signedIn !== undefined;
      const known: Known = { tools, principal, base: canSignOut ? base : '', canSignOut };
      const current = room?.path ?? '/';
      if (access === undefined && path !== '/sign-in') {
        const next = method === 'GET' ? `${path}${url.search}` : '/';
        await send(request, response, { ...signInPage(undefined, next), status: 401 }, current, nobody, {
          'www-authenticate': 'Bearer',
          ...(method === 'POST' ? { connection: 'close' } : {}),
        });
        return true;
      }
      if (method === 'POST' && !isOwnForm(request)) {
        await send(
          request,
          response,
          { title: 'Refused', status: 403, body: problem('This form was not sent by a page of this console.') },
          current,
          known,
        );
        return true;
      }
      const canEdit = room?.change !== undefined && principal?.rights.readOnly !== true;
      const bytesMax = path === '/sign-in' ? tokenBytesMax : canEdit ? textFormBytesMax : formBytesMax;
      const form = method === 'POST' ? await readForm(request, response, bytesMax) : new URLSearchParams();
      if (form === undefined) return true;
      if (path === '/sign-in') {
        // Not a submitted form: the visitor reloaded the page that reported a wrong token.
        if (method !== 'POST') respondEmpty(response, 303, { ...securityHeaders, location: '/' });
        else
          await signIn(await entrance.checkToken(form.get('token') ?? ''), form.get('next') ?? '/', request, response);
        return true;
      }
      if (path === '/sign-out') {
        const cookie = signIns.close(request, base);
        respondEmpty(response, 303, { ...securityHeaders, location: '/', 'set-cookie': cookie });
        return true;
      }
      const rest = decodeURIComponentSafely(path.slice(current === '/' ? 1 : current.length + 1));
      const visit: Visit = { tools, rest, query: url.searchParams, form };
      if (action) {
        await answerScript(action(visit), response);
        return true;
      }
      const about: About = {
        ...deps,
        config,
        pace: paceOf(principal),
        mcpUrl: `${origin}${config.mcpPath}`,
        needsToken: principal !== undefined,
        ...viewerOf(principal),
      };
      const page =
        room !== undefined && isOpenTo(room, about)
          ? await pageOf(room, method, visit, about, gone.signal)
          : notFound();
      await send(request, response, page, current, known);
      return true;
    },
  };

  async function pageOf(room: Room, method: string, visit: Visit, about: About, signal: AbortSignal): Promise<Page> {
    try {
      if (method === 'POST') {
        if (room.change === undefined) return notFound();
        const done = await room.change(visit, about);
        return typeof done === 'string' ? { title: '', body: html``, location: done } : done;
      }
      if (visit.rest === '') return await room.show(visit, about);
      const file = await room.download?.(visit);
      if (file !== undefined) return { title: '', body: html``, file };
      return room.showOne === undefined ? notFound() : await room.showOne(visit, about);
    } catch (error) {
      if (isCarrelError(error)) {
        const isMissing = error.kind === 'not_found';
        return failed(isMissing ? 'Not found' : 'Request failed', isMissing ? 404 : 400, error.message);
      }
      if (signal.aborted) return notFound();
      const incident = deps.log.incident('a page of the console failed', error, { page: room.path });
      const message = `Internal error. The log has the details under incident ${incident}.`;
      return failed('Internal error', 500, message);
    }
  }

  /** The signed-in principal, while their token is valid. */
  async function whoSignedIn(
    request: IncomingMessage,
    base: string,
    entrance: Entrance,
  ): Promise<Principal | undefined> {
    if (base !== '' && isLedHere(request)) return undefined;
    const principal = signIns.find(request, base);
    return principal !== undefined && (await entrance.isValid(principal)) ? principal : undefined;
  }

  async function signIn(
    checked: TokenCheck,
    next: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const path = isOwnPath(next) ? next : '/';
    if (typeof checked === 'object') {
      const { principal } = checked;
      const session = principal && signIns.open(request, principal, isOverTls(request));
      respondEmpty(response, 303, {
        ...securityHeaders,
        location: `${session?.base ?? ''}${path}`,
        ...(session ? { 'set-cookie': session.cookie } : {}),
      });
      return;
    }
    const message = checked === 'wrong' ? 'Invalid token.' : 'Too many invalid tokens. Try again in a minute.';
    const page = { ...signInPage(message, path), status: checked === 'wrong' ? 401 : 429 };
    await send(request, response, page, '/', nobody, {
      'www-authenticate': 'Bearer',
    });
  }
}

/** The visitor of a page. */
interface Known {
  tools: ConsoleTools;
  principal: Principal | undefined;
  /** The secret path of their session; empty if there is none. */
  base: string;
  canSignOut: boolean;
}

const notSignedIn = (): Promise<never> => Promise.reject(new Error('not signed in'));

const nobody: Known = {
  tools: { has: () => false, names: () => [], call: notSignedIn, original: notSignedIn },
  principal: undefined,
  base: '',
  canSignOut: false,
};

/** `next`: the page to open after sign-in. */
function signInPage(message: string | undefined, next: string): Page {
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

function failed(title: string, status: number, message: string): Page {
  return { title, status, body: html`${pageHeader({ title })}${problem(message)}` };
}

function notFound(): Page {
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

/** Paths for programs, where browsers get the plain error too. */
const programPaths = /^\/(?:health|metrics|\.well-known\/.*)$/;

/** Whether to answer with a "not found" page. Programs get a plain error instead. */
function wantsPage({ method, headers }: IncomingMessage, path: string): boolean {
  return method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '') && !programPaths.test(path);
}

/**
 * Rejects forms of other sites and requests that don't reveal their origin. `Sec-Fetch-Site` is preferred, because it is right
 * even behind a proxy that changes Host. Browsers that don't send it are checked by Origin.
 */
function isOwnForm({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && URL.parse(origin)?.host === host;
}

/** True if a link from another site or port led here. That site may have planted a cookie for a session of its own. */
function isLedHere({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'same-site' || site === 'cross-site';
}

/** True for a path on this server, false for a URL of another one. */
function isOwnPath(text: string): boolean {
  return /^\/(?![/\\])[!-~]*$/.test(text);
}

/** Whether the browser used TLS. Read from the form's Origin, because a proxy may terminate TLS. */
function isOverTls({ headers: { origin = '' } }: IncomingMessage): boolean {
  return /^https:/i.test(origin);
}

/** The visitor's URL of this server. Based on headers that a proxy sets, so it is only shown to that visitor. */
function originOf({ headers }: IncomingMessage): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${scheme}://${headers.host ?? ''}`;
}

async function readForm(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
): Promise<URLSearchParams | undefined> {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
  const body = isForm ? await readBody(request, bytesMax) : undefined;
  const form = body?.ok ? await parseForm(body.bytes) : undefined;
  if (form?.ok) return form.fields;
  const [status, problem] = body?.ok ? [413, form?.problem] : [body?.status, body?.problem];
  respondText(response, status ?? 415, problem ?? 'Send a form.', {
    ...securityHeaders,
    connection: 'close',
  });
  return undefined;
}

async function answerScript(work: Promise<Record<string, unknown>>, response: ServerResponse): Promise<void> {
  try {
    respondJson(response, 200, await work, securityHeaders);
  } catch (error) {
    const message = isCarrelError(error) ? error.message : 'Internal error.';
    respondJson(response, 400, { message }, securityHeaders);
  }
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
