import { CarrelError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import type { TaskOutcome, Tasks, TaskView } from '../jobs/task.ts';
import type { Call } from '../tools/call.ts';
import type { Catalogue } from '../tools/catalogue.ts';
import type { TaskDesk } from './incoming-call.ts';
import { lookAt } from './task-calls.ts';
import { tasksExtension } from './wire-errors.ts';

/** Whether a client that declares these capabilities takes a task instead of an answer. */
export function takesTasks(capabilities: unknown): boolean {
  const extensions = isObject(capabilities) ? capabilities['extensions'] : undefined;
  return isObject(extensions) && isObject(extensions[tasksExtension]);
}

/** The methods of the tasks extension. Every one checks that the task is the caller's own. */
export interface TaskMethods {
  get(taskId: unknown, call: Call): Promise<TaskView>;
  update(taskId: unknown, responses: unknown, call: Call): Promise<object>;
  cancel(taskId: unknown, call: Call): Promise<object>;
}

export function createTaskMethods(tasks: Tasks, catalogue: Catalogue, render: TaskDesk['render']): TaskMethods {
  /** Work that an earlier process began: nobody here follows it, so it is looked at whenever somebody asks. */
  const lookAtLeft = async (tool: string, work: string, call: Call): Promise<{ message: string } | TaskOutcome> => {
    try {
      const lasting = catalogue.find(tool)?.tool.lasting;
      if (lasting === undefined) return { message: 'This server no longer has the tool.' };
      const state = await lookAt(lasting, work, call);
      return 'message' in state ? state : render(tool, { result: state.answer });
    } catch (failure) {
      return render(tool, { failure });
    }
  };

  const get = async (taskId: unknown, call: Call): Promise<TaskView> => {
    const { view, tool, leftWork } = await tasks.get(taskId, call.caller.owner);
    if (leftWork === undefined) return view;
    const state = await lookAtLeft(tool, leftWork, call);
    if (!('status' in state)) return { ...view, statusMessage: state.message };
    await tasks.endLeft(view.taskId, state);
    return (await tasks.get(taskId, call.caller.owner)).view;
  };

  return {
    get,
    async update(taskId, responses, { caller }) {
      if (!isObject(responses)) {
        throw new CarrelError('invalid_arguments', 'inputResponses must be an object, by the keys of inputRequests.');
      }
      await tasks.answer(taskId, caller.owner, responses);
      return {};
    },
    async cancel(taskId, { caller }) {
      const { tool, leftWork } = await tasks.cancel(taskId, caller.owner);
      // What has ended by itself meanwhile need not be stopped.
      if (leftWork !== undefined)
        await catalogue
          .find(tool)
          ?.tool.lasting?.stop(leftWork)
          .catch(() => {});
      return {};
    },
  };
}
