import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder, writeNewFile } from '../base/durable-files.ts';
import { systemCode } from '../base/errors.ts';
import { makeFolder } from '../base/make-folder.ts';
import type { TaskOutcome } from './task.ts';

/** What is on disk of a task from its beginning. */
export interface Beginning {
  owner: string;
  tool: string;
  createdAt: number;
  /** Whose work it is; see lease-owner. */
  process: string;
  work?: string;
}

export interface Ending {
  endedAt: number;
  outcome: TaskOutcome;
}

export type FileKind = 'task' | 'end';

/** One file for the beginning of each task, and one for its end. What was written is on disk when a promise resolves. */
export interface TaskFiles {
  /** Makes the folder and removes what is old, whatever it is. Returns the ends that stay. */
  prepare(
    isOld: (kind: FileKind | undefined, changedAt: number) => boolean,
  ): Promise<{ id: string; bytes: number; endedAt: number }[]>;
  writeBeginning(id: string, beginning: Beginning): Promise<void>;
  replaceBeginning(id: string, beginning: Beginning): Promise<void>;
  /** The first end is the one that counts, also among processes: the file is made once. Returns the bytes of this one. */
  writeEnd(id: string, ending: Ending): Promise<number>;
  readBeginning(id: string): Promise<Beginning | undefined>;
  readEnding(id: string): Promise<Ending | undefined>;
  remove(id: string): Promise<void>;
}

export function createTaskFiles(folder: string): TaskFiles {
  const beginningOf = (id: string): string => join(folder, `${id}.task`);
  const endingOf = (id: string): string => join(folder, `${id}.end`);
  return {
    async prepare(isOld) {
      makeFolder(folder);
      const ends: { id: string; bytes: number; endedAt: number }[] = [];
      for (const name of await readdir(folder)) {
        const [, id = '', kind] = /^([\w-]{32})\.(task|end)$/.exec(name) ?? [];
        const file = join(folder, name);
        const { mtimeMs, size } = await stat(file).catch(() => ({ mtimeMs: 0, size: 0 }));
        if (isOld(kind as FileKind | undefined, mtimeMs)) await rm(file, { force: true });
        else if (kind === 'end') ends.push({ id, bytes: size, endedAt: mtimeMs });
      }
      return ends;
    },
    async writeBeginning(id, beginning) {
      await writeNewFile(beginningOf(id), Buffer.from(JSON.stringify(beginning)));
      await syncFolder(folder);
    },
    async replaceBeginning(id, beginning) {
      await replaceFile(beginningOf(id), Buffer.from(JSON.stringify(beginning)));
    },
    async writeEnd(id, ending) {
      const bytes = Buffer.from(JSON.stringify(ending));
      try {
        await writeNewFile(endingOf(id), bytes);
        await syncFolder(folder);
      } catch (error) {
        if (systemCode(error) !== 'EEXIST') throw error;
      }
      return bytes.length;
    },
    readBeginning: (id) => readJson(beginningOf(id)),
    readEnding: (id) => readJson(endingOf(id)),
    async remove(id) {
      await Promise.all([rm(beginningOf(id), { force: true }), rm(endingOf(id), { force: true })]);
    },
  };
}

async function readJson<Content>(path: string): Promise<Content | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Content;
  } catch (error) {
    // A file that was cut off by a power cut is as good as none.
    if (error instanceof SyntaxError || systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
