import { existsSync } from 'node:fs';
import path from 'node:path';
import { homeFolder } from '../../base/home-folder.ts';
import { namesIn } from '../../base/make-folder.ts';

/** The facts about this machine that determine where clients store their files. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder for the settings of desktop programs. */
  readonly configFolder: string;
  /** The folder for local application data; Windows only. */
  readonly localData: string | undefined;
  join(...parts: string[]): string;
  exists(path: string): boolean;
  /** Returns the names in a folder; empty if the folder doesn't exist. */
  list(folder: string): readonly string[];
}

export type Disk = Pick<Machine, 'exists' | 'list'>;

export function machineOf(
  platform: NodeJS.Platform,
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  disk: Disk,
): Machine {
  const { join } = platform === 'win32' ? path.win32 : path.posix;
  return { platform, home, env, join, ...disk, ...foldersOf(platform, home, env, join) };
}

function foldersOf(
  platform: NodeJS.Platform,
  home: string,
  env: Machine['env'],
  join: Machine['join'],
): Pick<Machine, 'configFolder' | 'localData'> {
  if (platform === 'win32') {
    return {
      configFolder: env['APPDATA'] || join(home, 'AppData', 'Roaming'),
      localData: env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'),
    };
  }
  if (platform === 'darwin')
    return { configFolder: join(home, 'Library', 'Application Support'), localData: undefined };
  return { configFolder: env['XDG_CONFIG_HOME'] || join(home, '.config'), localData: undefined };
}

export function thisMachine(): Machine {
  return machineOf(process.platform, homeFolder(), process.env, {
    exists: existsSync,
    list: namesIn,
  });
}
