import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { silentLogger } from '../../src/base/log.ts';
import { createCallJobs } from '../../src/jobs/call-jobs.ts';
import { messageLimits } from '../../src/mcp/messages/messages.ts';
import { createOffer } from '../../src/mcp/offer.ts';
import { everyRevision } from '../../src/mcp/protocol-versions.ts';
import { serveOverStdio } from '../../src/mcp/serve.ts';
import type { Prompt } from '../../src/tools/prompt.ts';

/** A server on a pair of streams that offers one prompt and nothing else. */
export function servePrompt(prompt: Prompt) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const offer = createOffer({
    serverInfo: { name: 'test', version: '1' },
    instructions: '',
    toolsets: [{ name: 'polite', failures: { as: 'jsonrpc' }, tools: [], prompts: [prompt] }],
    readOnly: false,
    disabledTools: [],
    inFlight: { runningMax: 10, waitingMax: 10 },
    jobs: createCallJobs(),
    log: silentLogger,
  });
  const { closed } = serveOverStdio({ offer, revisions: everyRevision, limits: messageLimits, input, output });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  return {
    write: (messages: readonly object[]) =>
      void input.write(messages.map((each) => `${JSON.stringify(each)}\n`).join('')),
    line: async () => JSON.parse((await lines.next()).value ?? ''),
    /** The client has closed its end, and all of its requests are answered. */
    async end() {
      input.end();
      await closed;
    },
    /** What is left to read when it has ended. */
    async rest() {
      output.end();
      let rest = '';
      for await (const line of { [Symbol.asyncIterator]: () => lines }) rest += line;
      return rest;
    },
  };
}
