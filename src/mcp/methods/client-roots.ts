import { fileURLToPath } from 'node:url';
import { isObject } from '../../base/json.ts';
import type { AskingRequest } from './asking.ts';

/** Timeout for the client's answer. Short, because clients know their roots. */
const answerMs = 5_000;
const rootsMax = 100;

/** True if a client with these capabilities can list its roots. */
export function namesRoots(capabilities: unknown): boolean {
  return isObject(capabilities) && isObject(capabilities['roots']);
}

/** Asks for the client's roots, as paths. Returns none if the client doesn't answer properly. */
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
