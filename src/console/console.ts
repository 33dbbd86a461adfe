import type { IncomingMessage, ServerResponse } from 'node:http';
import { BoundedMap } from '../base/bounded-map.ts';
import { isCarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { version } from '../base/package-info.ts';
import { fullRights, type Principal, rightsKey } from '../base/rights.ts';
import { respondEmpty } from '../http/respond.ts';
import { sendFile } from '../http/send-file.ts';
import { assetsVersion, securityHeaders, sendAsset, sendHtml } from './assets.ts';
import type { ConsoleTools, Visit } from './console-tools.ts';
import { html } from './html.ts';
import { createPace, type Pace } from './pace.ts';
import { type Page, renderPage } from './page.ts';
import { failed, notFound, signInPage } from './pages/plain-pages.ts';
import { problem } from './parts/parts.ts';
import {
  answerScript,
  comesFromOtherSite,
  isOverTls,
  isOwnForm,
  isOwnPath,
  originOf,
  readForm,
  wantsPage,
} from './requests.ts';
import {
  actions,
  isAccessible,
  isOffered,
  type Section,
  type SectionContext,
  type SectionDeps,
  type ShownConfig,
  sections,
} from './sections.ts';
import { createSignIns, splitBase } from './sign-in.ts';

export interface ConsoleConfig extends ShownConfig {
  isReadOnly: boolean;
  /** The path of the MCP endpoint on this server. */
  mcpPath: string;
}

export interface ConsoleDeps extends SectionDeps {
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

/** The sender of a request, and the server's token checks. */
export interface RequestAccess {
  address: string;
  /** Returns the principal of the request's token, or none if no token is required. Undefined means that access is denied. */
  access(): Promise<{ principal: Principal | undefined } | undefined>;
  /** Checks the token of a sign-in form. Wrong tokens count towards the address's limit. */
  checkToken(token: string): Promise<TokenCheck>;
  /** True if the principal's token is still valid. */
  isValid(principal: Principal): Promise<boolean>;
}

export type TokenCheck = { principal: Principal | undefined } | 'wrong' | 'too many';

/** The web console: pages for people, built on the tools' answers. */
export interface Console {
  /** Answers the request if its path is one of the console's. Host and Origin are already checked. */
  handle(request: IncomingMessage, response: ServerResponse, requestAccess: RequestAccess): Promise<boolean>;
}

/** Max bytes of a form with a text to edit: about two million characters, each up to nine bytes when URL-encoded. */
const textFormBytesMax = 20 * 1024 * 1024;
const formBytesMax = 64 * 1024;
const pacesMax = 100;
/** Max bytes of the sign-in form, which anybody may send. */
const tokenBytesMax = 16 * 1024;

export function createConsole(config: ConsoleConfig, deps: ConsoleDeps): Console {
  const signIns = createSignIns();
  /** Ingestion speed, measured per set of rights: callers with different rights see different parts of the ingestion queue. */
  const paces = new BoundedMap<string, Pace>(pacesMax);
  const paceOf = (principal: Principal | undefined): Pace => {
    const key = rightsKey(principal?.rights ?? fullRights);
    const pace = paces.get(key) ?? createPace();
    paces.set(key, pace);
    return pace;
  };

  const accessOf = (principal: Principal | undefined) => ({
    principal,
    tokens: deps.tokens,
    isReadOnly: config.isReadOnly,
  });

  const shellOf = (current: string, { tools, principal, base, canSignOut }: Viewer) => ({
    base,
    menu: sections.filter(
      (section) => !section.isHidden && isAccessible(section, accessOf(principal)) && isOffered(section, tools),
    ),
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
    viewer: Viewer,
    headers: Record<string, string> = {},
  ): Promise<void> => {
    if (page.file !== undefined) await sendFile(page.file, request, response);
    else if (page.location !== undefined) {
      respondEmpty(response, 303, { ...securityHeaders, location: `${viewer.base}${page.location}` });
    } else {
      const markup = renderPage(page, shellOf(current, viewer));
      await sendHtml(page.status ?? 200, markup, request, response, headers);
    }
  };

  return {
    async handle(request, response, requestAccess) {
      const url = URL.parse(request.url ?? '', 'http://console');
      const method = request.method ?? '';
      if (url === null || !['GET', 'HEAD', 'POST'].includes(method)) return false;
      const { base, path } = splitBase(url.pathname);
      if (path.startsWith('/console/') && method !== 'POST') {
        return sendAsset(path.slice('/console/'.length), request, response);
      }
      const section = sections.findLast(
        (each) => path === each.path || (each.path !== '/' && path.startsWith(`${each.path}/`)),
      );
      const action = method === 'POST' ? actions[path] : undefined;
      const isSignInOrOut = path === '/sign-in' || (method === 'POST' && path === '/sign-out');
      const isUnknownPath = section === undefined && action === undefined && !isSignInOrOut;
      if (isUnknownPath && !wantsPage(request, path)) return false;

      const closed = new AbortController();
      response.on('close', () => closed.abort());
      const origin = originOf(request);
      const signedIn = await signedInPrincipal(request, base, requestAccess);
      const access = signedIn === undefined ? await requestAccess.access() : { principal: signedIn };
      const principal = access?.principal;
      const tools = deps.tools({ principal, address: requestAccess.address, origin, signal: closed.signal });
      const canSignOut = signedIn !== undefined;
      const viewer: Viewer = { tools, principal, base: canSignOut ? base : '', canSignOut };
      const current = section?.path ?? '';
      if (access === undefined && path !== '/sign-in') {
        const next = method === 'GET' ? `${path}${url.search}` : '/';
        await send(request, response, { ...signInPage(undefined, next), status: 401 }, current, anonymous, {
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
          viewer,
        );
        return true;
      }
      const canEdit = section?.change !== undefined && principal?.rights.readOnly !== true;
      const bytesMax = path === '/sign-in' ? tokenBytesMax : canEdit ? textFormBytesMax : formBytesMax;
      const form = method === 'POST' ? await readForm(request, response, bytesMax) : new URLSearchParams();
      if (form === undefined) return true;
      if (path === '/sign-in') {
        // The visitor reloaded the page that reported a wrong token.
        if (method !== 'POST') respondEmpty(response, 303, { ...securityHeaders, location: '/' });
        else
          await signIn(
            await requestAccess.checkToken(form.get('token') ?? ''),
            form.get('next') ?? '/',
            request,
            response,
          );
        return true;
      }
      if (path === '/sign-out') {
        const cookie = signIns.close(request, base);
        respondEmpty(response, 303, { ...securityHeaders, location: '/', 'set-cookie': cookie });
        return true;
      }
      const subpath = decodeURIComponentSafely(path.slice(current.length + 1));
      const visit: Visit = { tools, subpath, query: url.searchParams, form };
      if (action) {
        await answerScript(action(visit), response);
        return true;
      }
      const context: SectionContext = {
        ...deps,
        config,
        pace: paceOf(principal),
        mcpUrl: `${origin}${config.mcpPath}`,
        needsToken: principal !== undefined,
        ...accessOf(principal),
      };
      const page =
        section !== undefined && isAccessible(section, context)
          ? await pageOf(section, method, visit, context, closed.signal)
          : notFound();
      await send(request, response, page, current, viewer);
      return true;
    },
  };

  async function pageOf(
    section: Section,
    method: string,
    visit: Visit,
    context: SectionContext,
    signal: AbortSignal,
  ): Promise<Page> {
    try {
      if (method === 'POST') {
        if (section.change === undefined) return notFound();
        const next = await section.change(visit, context);
        return typeof next === 'string' ? { title: '', body: html``, location: next } : next;
      }
      if (visit.subpath === '') return await section.show(visit, context);
      const file = await section.download?.(visit);
      if (file !== undefined) return { title: '', body: html``, file };
      return section.showOne === undefined ? notFound() : await section.showOne(visit, context);
    } catch (error) {
      if (isCarrelError(error)) {
        const isMissing = error.kind === 'not_found';
        return failed(isMissing ? 'Not found' : 'Request failed', isMissing ? 404 : 400, error.message);
      }
      if (signal.aborted) return notFound();
      const incident = deps.log.incident('a page of the console failed', error, { page: section.path });
      const message = `Internal error. The log has the details under incident ${incident}.`;
      return failed('Internal error', 500, message);
    }
  }

  /** Returns the signed-in principal, if the token is still valid. */
  async function signedInPrincipal(
    request: IncomingMessage,
    base: string,
    requestAccess: RequestAccess,
  ): Promise<Principal | undefined> {
    if (base !== '' && comesFromOtherSite(request)) return undefined;
    const principal = signIns.find(request, base);
    return principal !== undefined && (await requestAccess.isValid(principal)) ? principal : undefined;
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
    await send(request, response, page, '/', anonymous, {
      'www-authenticate': 'Bearer',
    });
  }
}

/** The visitor of a page. */
interface Viewer {
  tools: ConsoleTools;
  principal: Principal | undefined;
  /** The secret path of the visitor's session; empty if there is none. */
  base: string;
  canSignOut: boolean;
}

const notSignedIn = (): Promise<never> => Promise.reject(new Error('not signed in'));

const anonymous: Viewer = {
  tools: { has: () => false, names: () => [], call: notSignedIn, original: notSignedIn },
  principal: undefined,
  base: '',
  canSignOut: false,
};

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
