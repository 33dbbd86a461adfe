/** True in the built program, whose files are all in dist/. When run from source, each file is in its own folder. */
export const isBuilt = !import.meta.url.endsWith('.ts');

/** Returns the URL of a program file that is loaded separately. `name` has no extension; `from` is the importing file. */
export function fileBeside(from: string, name: string): URL {
  return new URL(`./${name}${isBuilt ? '.js' : '.ts'}`, from);
}

/** Returns the URL of a file in the package. Its root is one level above dist/, or two above src/base/. */
export function packageFile(path: string): URL {
  return new URL(`${isBuilt ? '../' : '../../'}${path}`, import.meta.url);
}
