import { CarrelError } from '../../base/errors.ts';
import type { Call } from '../../tools/call.ts';
import type { Prompt } from '../../tools/prompt.ts';
import type { Toolset } from '../../tools/toolset.ts';

export type Prompts = ReturnType<typeof createPrompts>;

export function createPrompts(toolsets: readonly Toolset[]) {
  const prompts = new Map(toolsets.flatMap(({ prompts: own = [] }) => own.map((prompt) => [prompt.name, prompt])));
  return {
    hasAny: prompts.size > 0,
    list: () =>
      [...prompts.values()].map(({ name, title, description, arguments: args }) => ({
        name,
        title,
        description,
        arguments: [...args],
      })),
    get(params: Record<string, unknown>): object {
      const prompt = typeof params['name'] === 'string' ? prompts.get(params['name']) : undefined;
      if (prompt === undefined) {
        throw new CarrelError('unknown_prompt', 'Unknown prompt. Use prompts/list to see the available prompts.');
      }
      const text = prompt.render(readValues(prompt, params['arguments']));
      return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
    },
    complete: async (name: string, argument: string, typed: string, call: Call): Promise<string[]> =>
      (await prompts.get(name)?.complete?.(argument, typed, call)) ?? [],
  };
}

function readValues(prompt: Prompt, args: unknown): Record<string, string> {
  const source: object = typeof args === 'object' && args !== null ? args : {};
  const values: Record<string, string> = {};
  for (const { name, required } of prompt.arguments) {
    const value: unknown = Object.hasOwn(source, name) ? source[name as keyof typeof source] : undefined;
    if (typeof value === 'string') values[name] = value;
    else if (value !== undefined) throw new CarrelError('invalid_arguments', `${name} must be a string.`);
    else if (required) throw new CarrelError('invalid_arguments', `${name} is required (a string).`);
  }
  return values;
}
