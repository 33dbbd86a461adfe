import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { TaskOutcome, Tasks, TaskView } from '../../jobs/task.ts';
import type { Call, Caller } from '../../tools/call.ts';
import type { IncomingCall, TaskFactory } from '../methods/incoming-call.ts';
import type { LinksTo } from '../methods/resource-links.ts';
import { failedResult, toolResult } from '../methods/tool-result.ts';
import { tasksExtension } from '../protocol-versions.ts';
import type { ServerFeatures } from '../server-features.ts';
import { methodNotFound, missingTasks, toRpcError } from '../wire-errors.ts';
import { checkWork } from './task-calls.ts';

/** True if a client with these capabilities accepts tasks instead of answers. */
export function supportsTasks(capabilities: unknown): boolean {
  const extensions = isObject(capabilities) ? capabilities['extensions'] : undefined;
  return isObject(extensions) && isObject(extensions[tasksExtension]);
}

export function createTaskFactory(
  features: ServerFeatures,
  tasks: Tasks,
  { owner }: Caller,
  linksTo: LinksTo | undefined,
): TaskFactory {
  // The same result that the call itself would have returned.
  const completed = (result: object): TaskOutcome => ({
    status: 'completed',
    result: { ...result, resultType: 'complete' },
  });
  const failed = (failure: unknown): TaskOutcome => {
    try {
      return completed(failedResult(failure));
    } catch (thrown) {
      const { code, message, data } = toRpcError(thrown, 'modern', features.log);
      return { status: 'failed', error: { code, message, data } };
    }
  };
  return {
    start: (tool, cancel, work) => tasks.start({ owner, tool, cancel, work }),
    render: (tool, outcome) =>
      'failure' in outcome ? failed(outcome.failure) : completed(toolResult(features, tool, outcome.result, linksTo)),
  };
}

/** Returns the tasks extension's methods. Each checks that the caller owns the task. */
export function taskMethodsOf(features: ServerFeatures, call: IncomingCall) {
  if (features.tasks === undefined) throw methodNotFound();
  if (call.tasks === undefined) throw missingTasks();
  return createTaskMethods(features, features.tasks, call.tasks);
}

/** Returns a task as its owner sees it, for notifications of changes. */
export async function findTask(features: ServerFeatures, taskId: string, call: Call): Promise<TaskView> {
  if (features.tasks === undefined) throw methodNotFound();
  const factory = createTaskFactory(features, features.tasks, call.caller, undefined);
  return createTaskMethods(features, features.tasks, factory).get(taskId, call);
}

function createTaskMethods({ catalogue }: ServerFeatures, tasks: Tasks, { render }: TaskFactory) {
  /** Checks background work that an earlier process started, so that no process waits for it. */
  const checkUnfinished = async (
    tool: string,
    work: string,
    call: Call,
  ): Promise<{ message: string } | TaskOutcome> => {
    try {
      const backgroundWork = catalogue.find(tool)?.tool.backgroundWork;
      if (backgroundWork === undefined) return { message: 'This server no longer has the tool.' };
      const state = await checkWork(backgroundWork, work, call);
      return 'message' in state ? state : render(tool, { result: state.answer });
    } catch (failure) {
      return render(tool, { failure });
    }
  };

  return {
    async get(taskId: unknown, call: Call): Promise<TaskView> {
      const { view, tool, unfinishedWork } = await tasks.get(taskId, call.caller.owner);
      if (unfinishedWork === undefined) return view;
      const state = await checkUnfinished(tool, unfinishedWork, call);
      if (!('status' in state)) return { ...view, statusMessage: state.message };
      await tasks.endAbandoned(view.taskId, state);
      return (await tasks.get(taskId, call.caller.owner)).view;
    },
    async update(taskId: unknown, responses: unknown, { caller }: Call): Promise<object> {
      if (!isObject(responses)) {
        throw new CarrelError('invalid_arguments', 'inputResponses must be an object, by the keys of inputRequests.');
      }
      await tasks.answer(taskId, caller.owner, responses);
      return {};
    },
    async cancel(taskId: unknown, { caller }: Call): Promise<object> {
      const { tool, unfinishedWork } = await tasks.cancel(taskId, caller.owner);
      const backgroundWork = unfinishedWork === undefined ? undefined : catalogue.find(tool)?.tool.backgroundWork;
      // Ignores a failure: the work may have already ended.
      if (unfinishedWork !== undefined) await backgroundWork?.stop(unfinishedWork).catch(() => {});
      return {};
    },
  };
}
