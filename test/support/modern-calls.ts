import { exchange, modernRequest } from './raw-http.ts';

export type Fields = Record<string, unknown>;

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** Capabilities of a client that supports tasks. */
export const withTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** Stateless requests of 2026-07-28: any process may get any of them. */
export function modernCalls(token: string) {
  const authorization = { authorization: `Bearer ${token}` };
  /** Returns the result of a request, or its error. */
  const ask = async (url: string, method: string, params: Fields, capabilities: object = {}): Promise<Fields> => {
    const { headers, message } = modernRequest(method, { ...params, _meta: { [capabilitiesKey]: capabilities } });
    const answer = await exchange(url, { headers: { ...headers, ...authorization }, body: JSON.stringify(message) });
    const { result, error } = answer.messages[0] ?? {};
    return (result ?? error) as Fields;
  };
  const call = async (url: string, name: string, args: Fields, capabilities: object = {}): Promise<Fields> => {
    const answer = await ask(url, 'tools/call', { name, arguments: args }, capabilities);
    return (answer['structuredContent'] ?? answer) as Fields;
  };
  return { authorization, ask, call };
}
