import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { makeFolder } from '../../../test/support/child-program.ts';
import { silentLogger } from '../../base/log.ts';
import { createTasks } from '../../jobs/tasks.ts';
import { localUser } from '../../tools/call.ts';
import { defineTool } from '../../tools/tool.ts';
import { runOrBecomeTask, StartedTask } from './task-calls.ts';

test('a result that cannot be serialized fails only its task', async (t) => {
  const folder = makeFolder(t);
  const tasks = createTasks({ folder, log: silentLogger });
  const ended = Promise.withResolvers<void>();
  tasks.onChange(() => ended.resolve());
  const tool = defineTool({
    name: 'odd',
    title: 'Odd',
    description: 'Odd.',
    effect: 'read',
    task: { begins: 'immediately' },
    input: z.object({}),
    output: z.object({}),
    run: async () => ({}),
  });
  const caller = { ...localUser, id: 'a', owner: 'a' };
  const { signal } = new AbortController();
  const call = { caller, signal, log: silentLogger, report() {}, keepCancellable: () => () => {} };
  const circular: { self?: object } = {};
  circular.self = circular;
  const started = await runOrBecomeTask(async () => circular, call, {
    tool,
    afterMs: 60_000,
    tasks: {
      start: (name, cancel) => tasks.start({ owner: 'a', tool: name, cancel }),
      render: (_tool, outcome) =>
        'failure' in outcome
          ? { status: 'failed', error: { code: -32_603, message: String(outcome.failure) } }
          : { status: 'completed', result: { text: JSON.stringify(outcome.result) } },
    },
  });
  assert.ok(started instanceof StartedTask);
  await ended.promise;
  const { view } = await tasks.get(started.view.taskId, 'a');
  assert.equal(view.status, 'failed');
});
