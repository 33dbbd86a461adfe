import { strict as assert } from 'node:assert';

export interface RpcError {
  code: number;
  message: string;
  data: { code: string; details: Record<string, unknown> } & Record<string, unknown>;
}

export interface RpcAnswer {
  jsonrpc: string;
  id?: unknown;
  result?: Record<string, unknown>;
  error?: RpcError;
}

/** Creates a client that sends plain JSON-RPC like the curl calls in docs/research.md: no `initialize`, no session, no Accept. */
export function createBareRpc(url: string) {
  const post = async (body: string): Promise<{ status: number; answer: RpcAnswer }> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: '*/*' },
      body,
    });
    return { status: response.status, answer: (await response.json()) as RpcAnswer };
  };
  let lastId = 0;
  const callTool = async (name: string, args: unknown): Promise<RpcAnswer> => {
    lastId += 1;
    const id = `call-${lastId}`;
    const message = { jsonrpc: '2.0', method: 'tools/call', params: { name, arguments: args }, id };
    const { status, answer } = await post(JSON.stringify(message));
    assert.equal(status, 200);
    assert.equal(answer.jsonrpc, '2.0');
    assert.equal(answer.id, id);
    return answer;
  };
  return {
    post,
    callTool,
    async result(name: string, args: unknown): Promise<Record<string, unknown>> {
      const { result, error } = await callTool(name, args);
      assert.ok(result, `${name} failed: ${JSON.stringify(error)}`);
      return result;
    },
    async error(name: string, args: unknown): Promise<RpcError> {
      const { result, error } = await callTool(name, args);
      assert.ok(error, `${name} did not fail: ${JSON.stringify(result)}`);
      return error;
    },
  };
}
