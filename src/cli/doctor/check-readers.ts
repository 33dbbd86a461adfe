import { networkBarrier } from '../../documents/start-reader.ts';
import type { Check } from './check.ts';

/** What the processes that read documents can't do, should a document take one over. */
export function checkReaders(): Check {
  const found = 'documents are read by processes without files, environment';
  if (networkBarrier() !== undefined) return { name: 'readers', ok: true, found: `${found} and network` };
  return { name: 'readers', ok: true, found: `${found}; they could reach the network: unshare is not allowed here` };
}
