import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder, writeNewFile } from '../base/durable-files.ts';
import { systemCode } from '../base/errors.ts';
import { makeFolder } from '../base/make-folder.ts';
import type { StoredTask, TaskStore } from './task-store.ts';

/**
 * One file for the beginning of each task, and one for its end. `lastsMs`: after so long without a change each is
 * removed at the next start; whatever else is in the folder, like an end.
 */
export function createTaskFiles(
  folder: string,
  { lastsMs, now }: { lastsMs: { task: number; end: number }; now: () => number },
): TaskStore {
  const beginningOf = (id: string): string => join(folder, `${id}.task`);
  const endingOf = (id: string): string => join(folder, `${id}.end`);
  return {
    async prepare() {
      makeFolder(folder);
      const ends: StoredTask[] = [];
      for (const name of await readdir(folder)) {
        const [, id = '', kind] = /^([\w-]{32})\.(task|end)$/.exec(name) ?? [];
        const file = join(folder, name);
        const { mtimeMs, size } = await stat(file).catch(() => ({ mtimeMs: 0, size: 0 }));
        if (now() - mtimeMs > (kind === 'task' ? lastsMs.task : lastsMs.end)) await rm(file, { force: true });
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
