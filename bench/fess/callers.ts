import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** A client that makes one call after another on its own connection. */
export interface Caller {
  call(): Promise<void>;
  close(): void;
}

export function connectDirect(url: string): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async call() {
      const { body } = await exchange(agent, url, 'GET', {});
      if (!body.includes('"record_count":20')) throw new Error(body.slice(0, 300));
    },
    close: () => agent.destroy(),
  };
}

/** Performs the handshake, then searches. */
export async function connectMcp(url: string): Promise<Caller> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const send = (message: object) =>
    exchange(agent, url, 'POST', headers, JSON.stringify({ jsonrpc: '2.0', ...message }));
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const session = await send({ id: 0, method: 'initialize', params });
  headers['mcp-session-id'] = String(session.headers['mcp-session-id']);
  headers['mcp-protocol-version'] = '2025-03-26';
  await send({ method: 'notifications/initialized' });
  let id = 0;
  return {
    async call() {
      id += 1;
      const { body } = await send({
        id,
        method: 'tools/call',
        params: { name: 'fess_finance_search', arguments: { query: 'test' } },
      });
      if (!body.includes('"total":20') || body.includes('"error"')) throw new Error(body.slice(0, 300));
    },
    close: () => agent.destroy(),
  };
}

function exchange(
  agent: Agent,
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ headers: response.headers, body: text }));
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The server may have just closed a connection that was idle between rounds.
      if (outgoing.reusedSocket && error.code === 'ECONNRESET')
        exchange(agent, url, method, headers, body).then(resolve, reject);
      else reject(error);
    });
    outgoing.end(body);
  });
}
