import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { silentLogger } from '../../src/base/log.ts';
import { createCallJobs } from '../../src/jobs/call-jobs.ts';
import { messageLimits } from '../../src/mcp/messages/messages.ts';
import { everyRevision } from '../../src/mcp/protocol-versions.ts';
import { serveOverStdio } from '../../src/mcp/serve.ts';
import { createServerFeatures } from '../../src/mcp/server-features.ts';
import type { Prompt } from '../../src/tools/prompt.ts';

/** Serves one prompt and nothing else over a pair of streams. */
export function servePrompt(prompt: Prompt) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const features = createServerFeatures({
    serverInfo: { name: 'test', version: '1' },
    instructions: '',
    toolsets: [{ name: 'polite', failures: { as: 'jsonrpc' }, tools: [], prompts: [prompt] }],
    readOnly: false,
    disabledTools: [],
    inFlight: { runningMax: 10, waitingMax: 10 },
    jobs: createCallJobs(),
    log: silentLogger,
  });
  const { closed } = serveOverStdio({ features, revisions: everyRevision, limits: messageLimits, input, output });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  return {
    write: (messages: readonly object[]) =>
      void input.write(messages.map((each) => `${JSON.stringify(each)}\n`).join('')),
    line: async () => JSON.parse((await lines.next()).value ?? ''),
    /** Closes the client's end and waits until all requests are answered. */
    async end() {
      input.end();
      await closed;
    },
    /** Returns the output that is left when the server has ended. */
    async rest() {
      output.end();
      let rest = '';
      for await (const line of { [Symbol.asyncIterator]: () => lines }) rest += line;
      return rest;
    },
  };
}
