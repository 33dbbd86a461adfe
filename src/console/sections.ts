import { isUnrestricted, type Principal, principalKey } from '../base/rights.ts';
import type { FileToSend } from '../http/send-file.ts';
import type { Activity } from './activity.ts';
import type { Clients } from './clients.ts';
import type { ConsoleTools, Visit } from './console-tools.ts';
import type { Pace } from './pace.ts';
import type { MenuEntry, Page } from './page.ts';
import { activityPage } from './pages/activity.ts';
import { type ConnectSnippet, connectPage } from './pages/connect.ts';
import { originalOf } from './pages/document.ts';
import { changeDocuments, documentOrConfirmation, documentsPage } from './pages/documents.ts';
import { changeJobs, finishUpload, jobsPage, startUpload } from './pages/jobs.ts';
import { memoriesPage } from './pages/memories.ts';
import { changeEntry, entryPage } from './pages/memory.ts';
import { changeNote, notePage, notesPage } from './pages/notes.ts';
import { previewPage } from './pages/preview.ts';
import { searchPage } from './pages/search.ts';
import { type ShownSetting, settingsPage } from './pages/settings.ts';
import { type ServerFacts, sourcesPage } from './pages/sources.ts';
import { changeToken, mayManageTokens, newTokenPage, type TokenDeps, tokensPage } from './pages/tokens.ts';
import { changeTrash, trashPage, trashTools } from './pages/trash.ts';
import { changeWebSource, newWebSourcePage, webSourcesPage } from './pages/web-sources.ts';

/** A section of the console, with its menu entry. */
export interface Section extends MenuEntry {
  /** Tools of which at least one must exist; otherwise the menu hides the section. */
  needs?: string | readonly string[];
  /** True hides the section from visitors with restricted rights. */
  needsFullRights?: boolean;
  /** An additional condition on the visitor. */
  isAllowed?(context: Pick<SectionContext, 'tokens' | 'isReadOnly' | 'principal'>): boolean;
  show(visit: Visit, context: SectionContext): Promise<Page> | Page;
  /** Shows a page below the path. */
  showOne?(visit: Visit, context: SectionContext): Promise<Page>;
  /** Returns a file below the path; undefined if the path names none. */
  download?(visit: Visit): Promise<FileToSend> | undefined;
  /** Handles a form. Returns the path of the next page, or a page to show once. */
  change?(visit: Visit, context: SectionContext): Promise<string | Page>;
}

/** Dependencies of the sections about the server. */
export interface SectionDeps {
  activity: Activity;
  clients: Clients;
  /** Returns the entry that connects each client to this server, with a placeholder for the token. */
  snippets(url: string, needsToken: boolean): Promise<readonly ConnectSnippet[]>;
  tokens: TokenDeps['tokens'];
  toolsetNames: readonly string[];
  facts(): Promise<ServerFacts>;
}

export interface ShownConfig {
  dataDir: string;
  settings: readonly ShownSetting[];
}

export interface SectionContext extends SectionDeps {
  config: ShownConfig;
  pace: Pace;
  mcpUrl: string;
  /** True if clients must send a token. */
  needsToken: boolean;
  isReadOnly: boolean;
  /** The visitor; undefined if no token is required. */
  principal: Principal | undefined;
}

export const sections: readonly Section[] = [
  {
    path: '/',
    name: 'Search',
    icon: 'search',
    group: 'knowledge',
    isOnBar: true,
    needs: 'kb_search',
    show: searchPage,
  },
  { path: '/preview', name: 'Preview', icon: 'search', group: 'knowledge', isHidden: true, show: previewPage },
  {
    path: '/documents',
    name: 'Documents',
    icon: 'file-text',
    group: 'knowledge',
    isOnBar: true,
    needs: 'kb_list',
    show: documentsPage,
    showOne: documentOrConfirmation,
    download: originalOf,
    change: changeDocuments,
  },
  {
    path: '/notes',
    name: 'Notes',
    icon: 'notebook-pen',
    group: 'knowledge',
    needs: 'list_notes',
    show: notesPage,
    showOne: notePage,
    change: changeNote,
  },
  {
    path: '/memories',
    name: 'Memories',
    icon: 'brain',
    group: 'knowledge',
    isOnBar: true,
    needs: 'list_threads',
    show: memoriesPage,
    showOne: entryPage,
    change: changeEntry,
  },
  {
    path: '/jobs',
    name: 'Files',
    icon: 'upload',
    group: 'knowledge',
    isOnBar: true,
    needs: 'kb_jobs',
    show: (visit, { pace }) => jobsPage(visit, pace, Date.now()),
    change: changeJobs,
  },
  {
    path: '/web',
    name: 'Web sources',
    icon: 'globe',
    group: 'knowledge',
    needs: 'kb_sources',
    show: webSourcesPage,
    showOne: newWebSourcePage,
    change: changeWebSource,
  },
  {
    path: '/trash',
    name: 'Trash',
    icon: 'trash-2',
    group: 'knowledge',
    needs: trashTools,
    show: trashPage,
    change: changeTrash,
  },
  {
    path: '/activity',
    name: 'Activity',
    icon: 'activity',
    group: 'server',
    show: (visit, context) =>
      activityPage(visit, context, { now: Date.now(), owner: restrictedOwner(context.principal) }),
  },
  {
    path: '/sources',
    name: 'Sources',
    icon: 'database',
    group: 'server',
    show: async (visit, { facts, principal }) =>
      sourcesPage(visit, hasFullRights(principal) ? await facts() : undefined),
  },
  {
    path: '/connect',
    name: 'Connect',
    icon: 'plug',
    group: 'server',
    show: async (_, context) =>
      connectPage({
        url: context.mcpUrl,
        needsToken: context.needsToken,
        snippets: await context.snippets(context.mcpUrl, context.needsToken),
        clients: hasFullRights(context.principal) ? context.clients.list() : undefined,
        mayAddToken: mayManageTokens(context),
      }),
  },
  {
    path: '/tokens',
    name: 'Tokens',
    icon: 'key-round',
    group: 'server',
    isAllowed: mayManageTokens,
    show: tokensPage,
    showOne: newTokenPage,
    change: changeToken,
  },
  {
    path: '/settings',
    name: 'Settings',
    icon: 'settings',
    group: 'server',
    needsFullRights: true,
    show: (visit, { config }) => settingsPage(visit, config.settings, config.dataDir),
  },
];

/** Requests of the console's own script. */
export const actions: Record<string, (visit: Visit) => Promise<Record<string, unknown>>> = {
  '/console/upload-start': startUpload,
  '/console/upload-finish': finishUpload,
};

export function isAccessible(
  { needsFullRights, isAllowed }: Section,
  context: Pick<SectionContext, 'tokens' | 'isReadOnly' | 'principal'>,
): boolean {
  return (!needsFullRights || hasFullRights(context.principal)) && (isAllowed?.(context) ?? true);
}

/** True if the visitor may see the whole server, even with a read-only token. */
function hasFullRights(principal: Principal | undefined): boolean {
  return restrictedOwner(principal) === undefined;
}

/** Returns the identity and rights of a visitor with restricted rights; undefined for others. */
function restrictedOwner(principal: Principal | undefined): string | undefined {
  return principal === undefined || isUnrestricted(principal.rights) ? undefined : principalKey(principal);
}

/** True if one of the tools that the section needs exists, or it needs none. */
export function isOffered({ needs = [] }: Section, tools: ConsoleTools): boolean {
  const names = typeof needs === 'string' ? [needs] : needs;
  return names.length === 0 || names.some(tools.has);
}
