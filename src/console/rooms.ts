import { isUnrestricted, type Principal } from '../base/rights.ts';
import type { FileToSend } from '../http/send-file.ts';
import type { Activity } from './activity.ts';
import type { Clients } from './clients.ts';
import type { ConsoleTools, Visit } from './console-tools.ts';
import type { Pace } from './pace.ts';
import type { MenuEntry, Page } from './page.ts';
import { activityPage } from './pages/activity.ts';
import { type ConnectSnippet, connectPage } from './pages/connect.ts';
import { originalOf } from './pages/document.ts';
import { changeDocuments, documentOrQuestion, documentsPage } from './pages/documents.ts';
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

/** A part of the console, with its place in the menu. */
export interface Room extends MenuEntry {
  /** Without one of these tools there is nothing to show. */
  needs?: string | readonly string[];
  /** Tells about the server as a whole, so not for those who may see only a part. */
  isWhole?: boolean;
  /** Whom it is for, where the rights alone don't say it. */
  isFor?(about: Pick<About, 'tokens' | 'isReadOnly' | 'principal'>): boolean;
  show(visit: Visit, about: About): Promise<Page> | Page;
  /** What stands below the path. */
  showOne?(visit: Visit, about: About): Promise<Page>;
  /** A file below the path; undefined if the path names none. */
  download?(visit: Visit): Promise<FileToSend> | undefined;
  /** Carries out a form and returns where to go then, or what to show once. */
  change?(visit: Visit, about: About): Promise<string | Page>;
}

/** What the rooms about the server itself ask. */
export interface RoomDeps {
  activity: Activity;
  clients: Clients;
  /** The entry for this server in the files of clients; the token is only named. */
  snippets(url: string, needsToken: boolean): Promise<readonly ConnectSnippet[]>;
  tokens: TokenDeps['tokens'];
  toolsetNames: readonly string[];
  facts(): Promise<ServerFacts>;
}

export interface ShownConfig {
  dataDir: string;
  settings: readonly ShownSetting[];
}

export interface About extends RoomDeps {
  config: ShownConfig;
  pace: Pace;
  mcpUrl: string;
  /** Whether clients have to send a token. */
  needsToken: boolean;
  isReadOnly: boolean;
  /** Who looks; undefined where no token is needed. */
  principal: Principal | undefined;
}

export const rooms: readonly Room[] = [
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
    showOne: documentOrQuestion,
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
    isWhole: true,
    show: (visit, about) => activityPage(visit, about, Date.now()),
  },
  {
    path: '/sources',
    name: 'Sources',
    icon: 'database',
    group: 'server',
    show: async (visit, { facts, principal }) => sourcesPage(visit, seesAll(principal) ? await facts() : undefined),
  },
  {
    path: '/connect',
    name: 'Connect',
    icon: 'plug',
    group: 'server',
    show: async (_, about) =>
      connectPage({
        url: about.mcpUrl,
        needsToken: about.needsToken,
        snippets: await about.snippets(about.mcpUrl, about.needsToken),
        clients: seesAll(about.principal) ? about.clients.list() : undefined,
        mayAddToken: mayManageTokens(about),
      }),
  },
  {
    path: '/tokens',
    name: 'Tokens',
    icon: 'key-round',
    group: 'server',
    isFor: mayManageTokens,
    show: tokensPage,
    showOne: newTokenPage,
    change: changeToken,
  },
  {
    path: '/settings',
    name: 'Settings',
    icon: 'settings',
    group: 'server',
    isWhole: true,
    show: (visit, { config }) => settingsPage(visit, config.settings, config.dataDir),
  },
];

/** What the console's own script asks for. */
export const actions: Record<string, (visit: Visit) => Promise<Record<string, unknown>>> = {
  '/console/upload-start': startUpload,
  '/console/upload-finish': finishUpload,
};

export function isOpenTo({ isWhole, isFor }: Room, about: Pick<About, 'tokens' | 'isReadOnly' | 'principal'>): boolean {
  return (!isWhole || seesAll(about.principal)) && (isFor?.(about) ?? true);
}

/** Whether somebody may see the server as a whole. */
function seesAll(principal: Principal | undefined): boolean {
  return principal === undefined || isUnrestricted(principal.rights);
}

/** Whether the tools have something to show there. */
export function isOffered({ needs = [] }: Room, tools: ConsoleTools): boolean {
  const names = typeof needs === 'string' ? [needs] : needs;
  return names.length === 0 || names.some(tools.has);
}
