import { fileURLToPath } from 'node:url';
import { isObject } from '../../base/json.ts';
import type { AskingRequest } from './asking.ts';

/** Clients answer from memory. */
const answerMs = 5_000;
const rootsMax = 100;

/** Whether a client that declares these capabilities can say which folders it opens to servers. */
export function namesRoots(capabilities: unknown): boolean {
  return isObject(capabilities) && isObject(capabilities['roots']);
}

/** The client's folders as paths. A client that does not answer properly names none. */
export async function askForRoots({ send, signal }: Pick<AskingRequest, 'send' | 'signal'>): Promise<string[]> {
  const answer = await send('roots/list', {}, answerMs).catch(() => undefined);
  signal.throwIfAborted();
  const roots = isObject(answer) && Array.isArray(answer['roots']) ? answer['roots'] : [];
  return roots.slice(0, rootsMax).flatMap((root) => pathOf(isObject(root) ? root['uri'] : undefined));
}

function pathOf(uri: unknown): string[] {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return [];
  try {
    return [fileURLToPath(uri)];
  } catch {
    return [];
  }
}
