import { isUnrestricted, type Principal } from '../base/rights.ts';
import type { Activity } from './activity.ts';
import type { Clients } from './clients.ts';
import type { Visit } from './console-tools.ts';
import type { Pace } from './pace.ts';
import type { MenuEntry, Page } from './page.ts';
import { activityPage } from './pages/activity.ts';
import { changeDocument, documentPage, documentsPage } from './pages/documents.ts';
import { finishUpload, jobsPage, startUpload } from './pages/jobs.ts';
import { changeEntry, entryPage, memoriesPage } from './pages/memories.ts';
import { changeNote, notePage, notesPage } from './pages/notes.ts';
import { searchPage } from './pages/search.ts';
import { type ConnectSnippet, connectPage, type ShownSetting, settingsPage, sourcesPage } from './pages/status.ts';

/** A part of the console, with its place in the menu. */
export interface Room extends MenuEntry {
  /** The tool without which there is nothing to show. */
  needs?: string;
  /** Tells about the server as a whole, so not for those who may see only a part. */
  isWhole?: boolean;
  show(visit: Visit, about: About): Promise<Page> | Page;
  /** What stands below the path. */
  showOne?(visit: Visit): Promise<Page>;
  /** Carries out a form and returns where to go then. */
  change?(visit: Visit): Promise<string>;
}

/** What the rooms about the server itself ask. */
export interface RoomDeps {
  activity: Activity;
  clients: Clients;
  /** The entry for this server in the files of clients; the token is only named. */
  snippets(url: string, needsToken: boolean): Promise<readonly ConnectSnippet[]>;
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
  {
    path: '/documents',
    name: 'Documents',
    icon: 'file-text',
    group: 'knowledge',
    isOnBar: true,
    needs: 'kb_list',
    show: documentsPage,
    showOne: documentPage,
    change: changeDocument,
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
  },
  { path: '/sources', name: 'Sources', icon: 'database', group: 'server', show: sourcesPage },
  {
    path: '/activity',
    name: 'Activity',
    icon: 'activity',
    group: 'server',
    isWhole: true,
    show: (_, { activity, clients }) => activityPage(activity, clients, Date.now()),
  },
  {
    path: '/connect',
    name: 'Connect',
    icon: 'plug',
    group: 'server',
    show: async (_, { needsToken, mcpUrl, snippets }) =>
      connectPage(mcpUrl, needsToken, await snippets(mcpUrl, needsToken)),
  },
  {
    path: '/settings',
    name: 'Settings',
    icon: 'settings',
    group: 'server',
    isWhole: true,
    show: (_, { config }) => settingsPage(config.settings, config.dataDir),
  },
];

/** What the console's own script asks for. */
export const actions: Record<string, (visit: Visit) => Promise<Record<string, unknown>>> = {
  '/console/upload-start': startUpload,
  '/console/upload-finish': finishUpload,
};

export function isOpenTo({ isWhole }: Room, principal: Principal | undefined): boolean {
  return !isWhole || principal === undefined || isUnrestricted(principal.rights);
}
