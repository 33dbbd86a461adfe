import * as z from 'zod';
import { CarrelError } from '../../src/base/errors.ts';
import type { ResourceContents, ResourceProvider, ResourceSummary } from '../../src/tools/resource.ts';
import { defineTool } from '../../src/tools/tool.ts';
import type { Toolset } from '../../src/tools/toolset.ts';
import { pause } from '../support/pause.ts';

/** The suite's tools that the tool model supports; they go through the product's own funnel. */
export const fixtureToolset: Toolset = {
  name: 'conformance',
  failures: { as: 'result' },
  tools: [
    defineTool({
      name: 'test_simple_text',
      title: 'Simple text',
      description: 'Returns a simple text.',
      effect: 'read',
      input: z.object({}),
      output: z.object({ text: z.string() }),
      run: async () => ({ text: 'This is a simple text response for testing.' }),
    }),
    defineTool({
      name: 'test_error_handling',
      title: 'Failure',
      description: 'Always fails.',
      effect: 'read',
      input: z.object({}),
      output: z.object({}),
      run: async () => {
        throw new CarrelError('unavailable', 'This tool intentionally returns an error for testing');
      },
    }),
    defineTool({
      name: 'test_tool_with_progress',
      title: 'Progress',
      description: 'Reports progress three times.',
      effect: 'read',
      input: z.object({}),
      output: z.object({ done: z.boolean() }),
      run: async (_input, call) => {
        for (const progress of [0, 50, 100]) {
          call.report({ progress, total: 100 });
          await pause(50, call.signal);
        }
        return { done: true };
      },
    }),
    defineTool({
      name: 'test_param_header',
      title: 'Parameter in a header',
      description: 'Takes a region that HTTP clients of 2026-07-28 repeat in the header Mcp-Param-Region.',
      effect: 'read',
      input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
      output: z.object({ region: z.string() }),
      run: async ({ region }) => ({ region }),
    }),
  ],
  resources: [createFixtureResources()],
  prompts: [
    {
      name: 'test_simple_prompt',
      title: 'Simple prompt',
      description: 'A prompt without arguments.',
      arguments: [],
      render: () => 'This is a simple prompt for testing.',
    },
    {
      name: 'test_prompt_with_arguments',
      title: 'Prompt with arguments',
      description: 'A prompt that repeats its arguments.',
      arguments: [
        { name: 'arg1', description: 'First test argument', required: true },
        { name: 'arg2', description: 'Second test argument', required: true },
      ],
      render: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    },
  ],
};

function createFixtureResources(): ResourceProvider {
  const text = (uri: string, name: string): ResourceSummary => ({
    uri,
    name,
    description: `The ${name} resource of the conformance suite.`,
    mimeType: 'text/plain',
  });
  return {
    uriPrefix: 'test://',
    templates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'A resource whose URI holds an id.',
        mimeType: 'application/json',
      },
    ],
    list: async () => ({
      resources: [
        text('test://static-text', 'static text'),
        { ...text('test://static-binary', 'static binary'), mimeType: 'image/png' },
        text('test://watched-resource', 'watched'),
      ],
    }),
    read: async ({ uri }) => readFixture(uri),
  };
}

function readFixture(uri: string): ResourceContents {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  }
  if (uri === 'test://static-text' || uri === 'test://watched-resource') {
    const text = 'This is the content of the static text resource.';
    return { contents: [{ uri, mimeType: 'text/plain', text }] };
  }
  throw new CarrelError('resource_not_found', 'No resource has this URI.', { data: { uri } });
}
