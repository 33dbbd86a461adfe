import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A real document of the corpus; the README names the program that made it. */
export interface CorpusFile {
  /** Its folder: the format, or the error code if it is rejected. */
  folder: string;
  name: string;
  bytes: Uint8Array;
  /** Lines that its text must contain, in this order. */
  expected: string[];
}

const root = import.meta.dirname;

/** Readable documents. */
export function corpusFiles(): CorpusFile[] {
  return filesOf('*/*').filter(({ folder }) => folder !== 'refused');
}

/** Rejected documents, in a folder named by the error code. */
export function refusedFiles(): CorpusFile[] {
  return filesOf('refused/*/*');
}

function filesOf(pattern: string): CorpusFile[] {
  return globSync(pattern, { cwd: root })
    .filter((path) => !path.endsWith('expected.txt'))
    .filter((path) => basename(path).includes('.'))
    .sort()
    .map((path) => {
      const own = join(root, `${path}.expected.txt`);
      const shared = join(root, path, '..', 'expected.txt');
      const expectations = [own, shared].find((file) => existsSync(file));
      return {
        folder: basename(join(path, '..')),
        name: basename(path),
        bytes: readFileSync(join(root, path)),
        expected: expectations
          ? readFileSync(expectations, 'utf8')
              .split('\n')
              .filter((line) => line !== '')
          : [],
      };
    });
}
