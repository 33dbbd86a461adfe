/** A server with Node alone, without SDK or checks. Its cost is the lower bound for any server. */
import { answerEcho } from './echo.ts';
import { listenOnLoopback } from './listen.ts';

interface Message {
  id?: number | string;
  method: string;
  params?: { arguments?: Record<string, unknown> };
}

if (process.argv[2] === 'http') {
  listenOnLoopback((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const answer = answerTo(JSON.parse(Buffer.concat(parts).toString()));
      if (answer === undefined) {
        response.writeHead(202).end();
        return;
      }
      const body = JSON.stringify(answer);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  });
} else {
  let partialLine = '';
  process.stdin.setEncoding('utf8').on('data', (text: string) => {
    const lines = (partialLine + text).split('\n');
    partialLine = lines.pop() ?? '';
    for (const line of lines) {
      const answer = answerTo(JSON.parse(line));
      if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
    }
  });
}

function answerTo({ id, method, params }: Message): object | undefined {
  if (id === undefined) return undefined;
  return { jsonrpc: '2.0', id, result: method === 'tools/call' ? answerEcho(params?.arguments) : handshake };
}

const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'bench', version: '0' },
};
