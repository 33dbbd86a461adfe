import { networkBarrier } from '../../documents/start-reader.ts';
import type { Check } from './check.ts';

/** Reports how the processes that read documents are sandboxed. */
export function checkReaders(): Check {
  const found = 'documents are read in processes without access to files, environment';
  if (networkBarrier() !== undefined) return { name: 'readers', ok: true, found: `${found} or network` };
  const why = process.platform === 'linux' ? '`unshare --user --net` is not permitted here and ' : '';
  return {
    name: 'readers',
    ok: true,
    found: `${found}; they can reach the network, because ${why}Node ${process.versions.node} cannot block it (25 can)`,
  };
}
