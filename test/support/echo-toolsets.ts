import * as z from 'zod';
import { CarrelError } from '../../src/base/errors.ts';
import type { ResourceProvider } from '../../src/tools/resource.ts';
import { defineTool } from '../../src/tools/tool.ts';
import type { Toolset } from '../../src/tools/toolset.ts';
import { pause } from './pause.ts';

const logEvent = (event: string, marker: string): void => void process.stderr.write(`${event} ${marker}\n`);

export const echoToolset: Toolset = {
  name: 'echo',
  failures: { as: 'jsonrpc' },
  tools: [
    defineTool({
      name: 'echo',
      title: 'Echo',
      description: 'Returns the text that it gets.',
      effect: 'read',
      input: z.object({ text: z.string() }),
      output: z.object({ text: z.string() }),
      run: async ({ text }) => ({ text }),
    }),
    defineTool({
      name: 'slow',
      title: 'Slow',
      description: 'Returns its marker after a delay, unless it is cancelled.',
      effect: 'read',
      input: z.object({ marker: z.string(), delay_ms: z.int().min(0).max(60_000) }),
      output: z.object({ marker: z.string() }),
      run: async ({ marker, delay_ms: delayMs }, call) => {
        logEvent('started', marker);
        call.signal.addEventListener('abort', () => logEvent('aborted', marker));
        await pause(delayMs, call.signal);
        logEvent('finished', marker);
        return { marker };
      },
    }),
    defineTool({
      name: 'count',
      title: 'Count',
      description: 'Reports progress with its marker at every step, and returns the marker.',
      effect: 'read',
      input: z.object({ marker: z.string(), steps: z.int().min(1).max(100), delay_ms: z.int().min(0).default(0) }),
      output: z.object({ marker: z.string() }),
      run: async ({ marker, steps, delay_ms: delayMs }, call) => {
        for (let step = 1; step <= steps; step += 1) {
          call.report({ progress: step, total: steps, message: marker });
          // The server must drop this report, because progress may only grow.
          call.report({ progress: step - 1, total: steps, message: 'backwards' });
          if (delayMs > 0) await pause(delayMs, call.signal);
        }
        return { marker };
      },
    }),
    defineTool({
      name: 'take',
      title: 'Take',
      description: 'Accepts lists and objects, and returns their sizes.',
      effect: 'add',
      input: z.object({
        items: z.array(z.unknown()).max(1000).optional(),
        metadata: z.record(z.string(), z.unknown()).optional(),
      }),
      output: z.object({ items: z.int(), keys: z.int() }),
      run: async ({ items = [], metadata = {} }) => ({ items: items.length, keys: Object.keys(metadata).length }),
    }),
    defineTool({
      name: 'large',
      title: 'Large',
      description: 'Returns a text of the requested length.',
      effect: 'read',
      input: z.object({ chars: z.int().min(0).max(10_000_000) }),
      output: z.object({ text: z.string() }),
      run: async ({ chars }) => ({ text: 'x'.repeat(chars) }),
    }),
    defineTool({
      name: 'switched_off',
      title: 'Switched off',
      description: 'Is disabled.',
      effect: 'read',
      input: z.object({}),
      output: z.object({}),
      run: async () => ({}),
    }),
    ...failing('rpc'),
  ],
  resources: [createEchoResources()],
};

/** A toolset whose calls become jobs after a short time. */
export const slowToolset: Toolset = {
  name: 'slow',
  failures: { as: 'result' },
  slowCallMs: 50,
  tools: [
    defineTool({
      name: 'dig',
      title: 'Dig',
      description: 'Digs slowly and reports progress.',
      effect: 'read',
      input: z.object({ marker: z.string(), delay_ms: z.int().min(0).max(600_000), fails: z.boolean().default(false) }),
      output: z.object({ marker: z.string() }),
      run: async ({ marker, delay_ms: delayMs, fails }, call) => {
        logEvent('started', marker);
        call.signal.addEventListener('abort', () => logEvent('aborted', marker));
        call.report({ progress: 1, total: 2, message: 'digging' });
        await pause(delayMs, call.signal);
        if (fails) throw new CarrelError('unavailable', 'The spade broke.');
        logEvent('finished', marker);
        return { marker };
      },
    }),
    defineTool({
      name: 'bury',
      title: 'Bury',
      description: 'Asks for confirmation, then buries.',
      effect: 'change',
      input: z.object({ what: z.string() }),
      output: z.object({ buried: z.boolean(), asked: z.boolean() }),
      questions: async ({ what }) => ({
        sure: { message: `Bury ${what}?`, fields: { confirm: { type: 'boolean', title: 'Bury it' } } },
      }),
      run: async ({ what }, { answered }) => {
        const buried = answered === undefined || answered.answers['sure']?.['confirm'] === true;
        if (buried) logEvent('buried', what);
        return { buried, asked: answered !== undefined };
      },
    }),
  ],
};

export const failingToolset: Toolset = { name: 'failing', failures: { as: 'result' }, tools: failing('result') };

/** Creates two failing tools, whose names end in `style`: an expected failure with details, and an unexpected one. */
function failing(style: string) {
  const common = { effect: 'read' as const, input: z.object({}), output: z.object({}) };
  return [
    defineTool({
      ...common,
      name: `fail_${style}`,
      title: 'Fail',
      description: 'Fails like an unavailable dependency.',
      run: async () => {
        const cause = new Error('secret text of somebody else');
        throw new CarrelError('unavailable', 'The archive is closed. Try again later.', {
          cause,
          data: { shelf: 7 },
          retryAfterSeconds: 3,
        });
      },
    }),
    defineTool({
      ...common,
      name: `crash_${style}`,
      title: 'Crash',
      description: 'Fails like a bug.',
      run: async () => {
        throw new TypeError('cannot read /home/somebody/secret');
      },
    }),
  ];
}

function createEchoResources(): ResourceProvider {
  return {
    uriPrefix: 'echo://',
    templates: [
      { uriTemplate: 'echo://{word}', name: 'echo', description: 'The word in the URI.', mimeType: 'text/plain' },
    ],
    async list(cursor) {
      const name = cursor ?? 'one';
      const resources = [{ uri: `echo://${name}`, name, description: `The word ${name}.`, mimeType: 'text/plain' }];
      return name === 'one' ? { resources, nextCursor: 'two' } : { resources };
    },
    async read({ uri, cursor }) {
      const word = uri.slice('echo://'.length);
      if (word === 'nothing')
        throw new CarrelError('resource_not_found', 'No resource has this URI.', { data: { uri } });
      return {
        contents: [{ uri, mimeType: 'text/plain', text: cursor === undefined ? word : `${word} from ${cursor}` }],
      };
    },
    complete: async (_template, _variable, typed) => ['one', 'two'].filter((word) => word.startsWith(typed)),
  };
}
