import { exchange, modernRequest } from './raw-http.ts';

export type Fields = Record<string, unknown>;

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** Capabilities of a client that supports tasks. */
export const withTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** Creates functions that send requests of revision 2026-07-28. They have no session, so each may go to any process. */
export function modernCalls(token: string) {
  const authorization = { authorization: `Bearer ${token}` };
  /** Returns the result of a request, or its error. */
  const send = async (url: string, method: string, params: Fields, capabilities: object = {}): Promise<Fields> => {
    const { headers, message } = modernRequest(method, { ...params, _meta: { [capabilitiesKey]: capabilities } });
    const answer = await exchange(url, { headers: { ...headers, ...authorization }, body: JSON.stringify(message) });
    const { result, error } = answer.messages[0] ?? {};
    return (result ?? error) as Fields;
  };
  const call = async (url: string, name: string, args: Fields, capabilities: object = {}): Promise<Fields> => {
    const answer = await send(url, 'tools/call', { name, arguments: args }, capabilities);
    return (answer['structuredContent'] ?? answer) as Fields;
  };
  return { authorization, send, call };
}
