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
const echo = await startListening(echoProgram, ['--token', 'correct-horse']);
after(() => echo.stop());
const overHttp = ['--server-url', echo.url, '--transport', 'http'];
const withToken = [...overHttp, '--header', 'Authorization: Bearer correct-horse'];

describe("the Inspector's command line (contract §2)", () => {
  it('calls a tool over stdio', async () => {
    const { result } = await inspect([...echoCall, '--protocol-era', 'modern', '--', process.execPath, echoProgram]);
    assert.deepEqual(result['structuredContent'], { text: 'hi' });
  });

  it('calls a tool over HTTP, with its token', async () => {
    const { code, result } = await inspect([...echoCall, ...withToken, '--protocol-era', 'legacy']);
    assert.equal(code, 0);
    assert.deepEqual(result['structuredContent'], { text: 'hi' });
  });

  it('exits with 3 when the token is missing', async () => {
    assert.equal((await inspect(['--method', 'tools/list', ...overHttp])).code, 3);
  });

  it('gets an answer to each of 100 calls, 8 at a time', async () => {
    const load = ['--load', '--load-requests', '100', '--load-concurrency', '8', '--protocol-era', 'modern'];
    const { code, output } = await inspect([...echoCall, ...load, ...withToken]);
    assert.equal(code, 0, output);
    assert.match(output, /100/);
  });

  it('reads a resource', async () => {
    const read = ['--method', 'resources/read', '--uri', 'echo://word', '--protocol-era', 'modern'];
    const { result } = await inspect([...read, ...withToken]);
    assert.deepEqual(result['contents'], [{ uri: 'echo://word', mimeType: 'text/plain', text: 'word' }]);
  });

  it('exits with 1 and shows the message of a JSON-RPC error', async () => {
    const fail = ['--method', 'tools/call', '--tool-name', 'fail_rpc', '--protocol-era', 'legacy'];
    const { code, errors } = await inspect([...fail, ...withToken]);
    assert.equal(code, 1);
    assert.match(errors, /The archive is closed/);
    assert.doesNotMatch(errors, /secret text/);
  });

  it('uses the HTTP+SSE pair under --cody', async () => {
    const program = await startListening(echoProgram, ['--revisions', 'cody']);
    const url = String(new URL('/sse', program.url));
    const { result } = await inspect([...echoCall, '--server-url', url, '--transport', 'sse']);
    assert.deepEqual(result['structuredContent'], { text: 'hi' });
    await program.stop();
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
