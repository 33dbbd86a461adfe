/** The build puts all files into dist/; before it, each is next to its source. */
export const isBuilt = !import.meta.url.endsWith('.ts');

/** A separately loaded file of the program: `name` has no extension, `from` is the importing file. */
export function fileBeside(from: string, name: string): URL {
  return new URL(`./${name}${isBuilt ? '.js' : '.ts'}`, from);
}

/** A file of the package, relative to its root: one level up from dist/, two from src/base/. */
export function packageFile(path: string): URL {
  return new URL(`${isBuilt ? '../' : '../../'}${path}`, import.meta.url);
}
