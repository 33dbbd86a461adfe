import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A real document of the corpus, made by the program that its README names. */
export interface CorpusFile {
  /** Name of its folder: its kind, or for what is refused the code of the error. */
  folder: string;
  name: string;
  bytes: Uint8Array;
  /** Lines that its text must hold, in this order. */
  expected: string[];
}

const root = import.meta.dirname;

/** Documents that are read. */
export function corpusFiles(): CorpusFile[] {
  return filesOf('*/*').filter(({ folder }) => folder !== 'refused');
}

/** Documents that are refused, with the reason as their folder. */
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
