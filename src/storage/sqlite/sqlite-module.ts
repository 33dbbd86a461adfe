import type * as sqlite from 'node:sqlite';

/** Loads Node's SQLite. Suppresses Node 22's warning that it is experimental, which users can't act on. */
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
