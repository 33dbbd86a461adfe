import type * as sqlite from 'node:sqlite';

/**
 * Node 22 announces on stderr that its SQLite is experimental, once per thread. Users can't act on that, so this one warning is
 * suppressed while the module loads.
 */
export function loadSqlite(): typeof sqlite {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes('SQLite is an experimental feature')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** "Carr", as in the file header. */
export const applicationId = 0x43617272;
