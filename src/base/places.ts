/** Built, all files of the program lie in dist/; otherwise each is where it was written. */
export const isBuilt = !import.meta.url.endsWith('.ts');

/** A file of the program that is loaded on its own: `name` without its ending, `from` the file that asks. */
export function fileBeside(from: string, name: string): URL {
  return new URL(`./${name}${isBuilt ? '.js' : '.ts'}`, from);
}

/** A file of the package, from its root: one level up from dist/, two from src/base/. */
export function packageFile(path: string): URL {
  return new URL(`${isBuilt ? '../' : '../../'}${path}`, import.meta.url);
}
