import { isUnrestricted, type Principal } from '../base/rights.ts';
import type { FileToSend } from '../http/send-file.ts';
import type { Activity } from './activity.ts';
import type { Clients } from './clients.ts';
import type { ConsoleTools, Visit } from './console-tools.ts';
import type { Pace } from './pace.ts';
import type { MenuEntry, Page } from './page.ts';
import { activityPage } from './pages/activity.ts';
import { originalOf } from './pages/document.ts';
import { changeDocuments, documentOrQuestion, documentsPage } from './pages/documents.ts';
import { changeJobs, finishUpload, jobsPage, startUpload } from './pages/jobs.ts';
import { memoriesPage } from './pages/memories.ts';
import { changeEntry, entryPage } from './pages/memory.ts';
import { changeNote, notePage, notesPage } from './pages/notes.ts';
import { searchPage } from './pages/search.ts';
import { type ConnectSnippet, connectPage, type ShownSetting, settingsPage, sourcesPage } from './pages/status.ts';
import { changeTrash, trashPage, trashTools } from './pages/trash.ts';

/** A part of the console, with its place in the menu. */
export interface Room extends MenuEntry {
  /** Without one of these tools there is nothing to show. */
  needs?: string | readonly string[];
  /** Tells about the server as a whole, so not for those who may see only a part. */
  isWhole?: boolean;
  show(visit: Visit, about: About): Promise<Page> | Page;
  /** What stands below the path. */
  showOne?(visit: Visit): Promise<Page>;
  /** A file below the path; undefined if the path names none. */
  download?(visit: Visit): Promise<FileToSend> | undefined;
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
    path: '/trash',
    name: 'Trash',
    icon: 'trash-2',
    group: 'knowledge',
    needs: trashTools,
    show: trashPage,
    change: changeTrash,
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

/** Whether the tools have something to show there. */
export function isOffered({ needs = [] }: Room, tools: ConsoleTools): boolean {
  const names = typeof needs === 'string' ? [needs] : needs;
  return names.length === 0 || names.some(tools.has);
}
