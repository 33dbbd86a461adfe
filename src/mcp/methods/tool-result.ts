import { CarrelError } from '../../base/errors.ts';
import type { ServerFeatures } from '../server-features.ts';
import { StartedTask } from '../tasks/task-calls.ts';
import { describeFailure, ToolFailure } from '../wire-errors.ts';
import type { IncomingCall, Params } from './incoming-call.ts';
import type { LinksTo } from './resource-links.ts';

/** Answers `tools/call`. */
export async function answerToolCall(features: ServerFeatures, params: Params, call: IncomingCall): Promise<object> {
  const { name, arguments: args } = params;
  if (typeof name !== 'string') throw new CarrelError('invalid_arguments', 'name must be a string: the tool to call.');
  try {
    const data = await features.callTool(name, args, call);
    return data instanceof StartedTask
      ? { ...data.view, resultType: 'task' }
      : toolResult(features, name, data, call.linksTo);
  } catch (thrown) {
    return failedResult(thrown);
  }
}

export function toolResult(
  { catalogue }: ServerFeatures,
  name: string,
  data: object,
  linksTo: LinksTo | undefined,
): object {
  const tool = catalogue.find(name)?.tool;
  const text = { type: 'text', text: JSON.stringify(textOf(data, tool?.listField)) };
  const content = tool && linksTo ? [text, ...linksTo(tool, data)] : [text];
  return { content, structuredContent: data };
}

/** Returns the result of a failed call, if its toolset reports failures as results. Otherwise throws the failure. */
export function failedResult(thrown: unknown): object {
  if (!(thrown instanceof ToolFailure) || thrown.toolset?.failures.as !== 'result') throw thrown;
  const { message, data } = describeFailure(thrown.error);
  return {
    content: [{ type: 'text', text: message }],
    structuredContent: { error: { ...data, message } },
    isError: true,
  };
}

/** Returns the text content: the whole structured content, or only its list if it has no other field. */
function textOf(data: object, listField: string | undefined): unknown {
  if (listField === undefined || !Object.hasOwn(data, listField)) return data;
  const { [listField]: list, ...rest } = data as Params;
  return Object.keys(rest).length === 0 ? list : data;
}
