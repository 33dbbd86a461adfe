import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  carrelProgram,
  cleanEnv,
  echoProgram,
  makeFolder,
  sourceCacheEnv,
  startListening,
} from '../../support/child-program.ts';

const inspector = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);
const home = makeFolder({ after });

const echoCall = ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'text=hi'];
const echo = await startListening(echoProgram);
after(() => echo.stop());
const closed = await startListening(echoProgram, ['--token', 'correct-horse']);
after(() => closed.stop());

for (const era of ['legacy', 'modern']) {
  describe(`the Inspector's command line in its ${era} era (contract §2)`, () => {
    const overHttp = ['--server-url', echo.url, '--transport', 'http', '--protocol-era', era];

    it('calls a tool over stdio', async () => {
      const { result } = await inspect([...echoCall, '--protocol-era', era, '--', process.execPath, echoProgram]);
      assert.deepEqual(result['structuredContent'], { text: 'hi' });
    });

    it('reads a resource', async () => {
      const { result } = await inspect(['--method', 'resources/read', '--uri', 'echo://word', ...overHttp]);
      assert.deepEqual(result['contents'], [{ uri: 'echo://word', mimeType: 'text/plain', text: 'word' }]);
    });

    it('exits with 1 and shows the message of a JSON-RPC error', async () => {
      const { code, errors } = await inspect(['--method', 'tools/call', '--tool-name', 'fail_rpc', ...overHttp]);
      assert.equal(code, 1);
      assert.match(errors, /The archive is closed/);
      assert.doesNotMatch(errors, /secret text/);
    });

    it('calls a tool over HTTP, with its token', async () => {
      const target = ['--server-url', closed.url, '--transport', 'http', '--protocol-era', era];
      const header = ['--header', 'Authorization: Bearer correct-horse'];
      const { code, result } = await inspect([...echoCall, ...target, ...header]);
      assert.equal(code, 0);
      assert.deepEqual(result['structuredContent'], { text: 'hi' });
    });
  });
}

describe("the Inspector's command line (contract §2)", () => {
  it('uses the HTTP+SSE pair under --cody', async () => {
    const program = await startListening(echoProgram, ['--revisions', 'cody']);
    const url = String(new URL('/sse', program.url));
    const { result } = await inspect([...echoCall, '--server-url', url, '--transport', 'sse']);
    assert.deepEqual(result['structuredContent'], { text: 'hi' });
    await program.stop();
  });

  it('exits with 3 when the token is missing', async () => {
    const target = ['--server-url', closed.url, '--transport', 'http'];
    assert.equal((await inspect(['--method', 'tools/list', ...target])).code, 3);
  });

  it('gets an answer to each of 100 calls, 8 at a time', async () => {
    const load = ['--load', '--load-requests', '100', '--load-concurrency', '8'];
    const target = ['--server-url', echo.url, '--transport', 'http'];
    const { code, output } = await inspect([...echoCall, ...load, ...target]);
    assert.equal(code, 0, output);
    assert.match(output, /100/);
  });

  it('lists the tools of the product itself over stdio and HTTP, in either era, and accepts their schemas', async () => {
    const list = ['--method', 'tools/list', '--strict'];
    // The tools of semantic search are listed without loading a model.
    const ollama = { EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: 'http://127.0.0.1:9', EMBEDDING_MODEL: 'absent' };
    const env = Object.entries(cleanEnv(home, ollama)).map(([name, value]) => `${name}=${value}`);
    const command = ['env', ...env, process.execPath, carrelProgram, 'serve'];
    const stdio = await inspect([...list, '--protocol-era', 'legacy', '--', ...command]);
    assert(Array.isArray(stdio.result['tools']), stdio.errors);
    const program = await startListening(carrelProgram, ['serve'], ollama);
    const target = ['--server-url', program.url, '--transport', 'http', '--protocol-era', 'modern'];
    const http = await inspect([...list, ...target]);
    assert.deepEqual(http.result['tools'], stdio.result['tools']);
    assert.equal(await program.stop(), 0);
  });
});

interface Inspection {
  code: number;
  result: Record<string, unknown>;
  output: string;
  errors: string;
}

function inspect(args: readonly string[]): Promise<Inspection> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [inspector, '--cli', '--format', 'json', '-q', ...args],
      { env: { PATH: process.env['PATH'] ?? '', HOME: home, ...sourceCacheEnv } },
      (error, output, errors) => {
        const code = error ? Number(error.code) : 0;
        const result = code === 0 && output.startsWith('{') ? JSON.parse(output).result : {};
        resolve({ code, result: result ?? {}, output, errors });
      },
    );
  });
}
