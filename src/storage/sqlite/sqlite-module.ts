import type * as sqlite from 'node:sqlite';

/**
 * Loads Node's SQLite. Node 22 warns on stderr, once per thread, that it is experimental. Users can't act on that, so this one
 * warning is suppressed while the module loads.
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

/** The letters "Carr", which identify Carrel's databases in the file header. */
export const applicationId = 0x43617272;
