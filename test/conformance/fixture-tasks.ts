import * as z from 'zod';
import { CarrelError } from '../../src/base/errors.ts';
import { defineTool } from '../../src/tools/tool.ts';
import type { Toolset } from '../../src/tools/toolset.ts';
import { pause } from '../support/pause.ts';

const common = { effect: 'read' as const, task: { begins: 'immediately' } as const };
const nameQuestion = { message: 'What is your name?', fields: { name: { type: 'string', title: 'Name' } } } as const;

/** The suite's task scenarios, on the product's own funnel, tasks and questions. */
export const taskToolsets: readonly Toolset[] = [
  {
    name: 'tasks',
    failures: { as: 'result' },
    tools: [
      defineTool({
        ...common,
        name: 'slow_compute',
        title: 'Slow',
        description: 'Computes for so many seconds.',
        input: z.object({ seconds: z.number(), label: z.string().optional() }),
        output: z.object({ done: z.boolean() }),
        async run({ seconds }, { signal }) {
          await pause(seconds * 1000, signal);
          return { done: true };
        },
      }),
      defineTool({
        ...common,
        task: { begins: 'immediately', required: true },
        name: 'failing_job',
        title: 'Failing',
        description: 'Fails after a while.',
        input: z.object({}),
        output: z.object({}),
        async run(_input, { signal }) {
          await pause(300, signal);
          throw new CarrelError('unavailable', 'This job always fails.');
        },
      }),
      defineTool({
        ...common,
        name: 'confirm_delete',
        title: 'Confirmed',
        description: 'Asks before it deletes.',
        input: z.object({ filename: z.string() }),
        output: z.object({ deleted: z.unknown() }),
        questions: async ({ filename }) => ({
          confirm: { message: `Delete ${filename}?`, fields: { confirm: { type: 'boolean', title: 'Delete it' } } },
        }),
        run: async (_input, { answered }) => ({ deleted: answered?.answers['confirm']?.['confirm'] }),
      }),
      defineTool({
        ...common,
        name: 'multi_input',
        title: 'Two questions',
        description: 'Asks two questions at once.',
        input: z.object({}),
        output: z.object({ answers: z.unknown() }),
        questions: async () => ({ first: nameQuestion, second: nameQuestion }),
        run: async (_input, { answered }) => ({ answers: answered?.answers }),
      }),
      defineTool({
        ...common,
        task: { begins: 'after questions', required: true },
        name: 'test_tool_with_task',
        title: 'Question, then task',
        description: 'Asks for a name, and goes on as a task.',
        input: z.object({}),
        output: z.object({ name: z.unknown() }),
        questions: async () => ({ user_name: nameQuestion }),
        run: async (_input, { answered }) => ({ name: answered?.answers['user_name']?.['name'] }),
      }),
    ],
  },
  {
    name: 'protocol-errors',
    failures: { as: 'jsonrpc' },
    tools: [
      defineTool({
        ...common,
        name: 'protocol_error_job',
        title: 'Protocol error',
        description: 'Fails as the protocol itself would.',
        input: z.object({}),
        output: z.object({}),
        run: async () => {
          throw new Error('panic');
        },
      }),
    ],
  },
];
