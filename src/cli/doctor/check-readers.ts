import { networkBarrier } from '../../documents/start-reader.ts';
import type { Check } from './check.ts';

/** Reports how the processes that read documents are sandboxed. */
export function checkReaders(): Check {
  const found = 'documents are read in processes without access to files, environment';
  if (networkBarrier() !== undefined) return { name: 'readers', ok: true, found: `${found} or network` };
  return {
    name: 'readers',
    ok: true,
    found: `${found}; network access cannot be blocked, because unshare is not permitted here`,
  };
}
