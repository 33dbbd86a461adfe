/** After the build all files of the program are in dist/; before it, each is where its source is. */
export const isBuilt = !import.meta.url.endsWith('.ts');

/** A file of the program that is loaded on its own: `name` without its extension, `from` the file that asks for it. */
export function fileBeside(from: string, name: string): URL {
  return new URL(`./${name}${isBuilt ? '.js' : '.ts'}`, from);
}

/** A file of the package, from its root: one level up from dist/, two from src/base/. */
export function packageFile(path: string): URL {
  return new URL(`${isBuilt ? '../' : '../../'}${path}`, import.meta.url);
}
