import { RpcError } from '../../src/mcp/wire-errors.ts';
import { pause } from '../support/pause.ts';
import { inputRequiredPrompts, inputRequiredTools } from './fixture-input-required.ts';
import {
  declaredCapabilities,
  type Fields,
  type FixtureContext,
  type FixturePrompt,
  type FixtureTool,
  noArguments,
  text,
} from './fixture-model.ts';

/** One pixel, and one silent sample. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQIAAAAAAA==';

/** Tools with answers that the tool model doesn't support: content other than text, questions to the client, logs. */
export const extraTools: Readonly<Record<string, FixtureTool>> = {
  greet: {
    description: 'Greets, at once.',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    run: async (params) => text(`Hello, ${String((params['arguments'] as Fields)['name'])}!`),
  },
  test_image_content: {
    description: 'Returns an image.',
    inputSchema: noArguments,
    run: async () => ({ content: [{ type: 'image', data: png, mimeType: 'image/png' }] }),
  },
  test_audio_content: {
    description: 'Returns audio.',
    inputSchema: noArguments,
    run: async () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'Returns a resource.',
    inputSchema: noArguments,
    run: async () => ({
      content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  test_multiple_content_types: {
    description: 'Returns text, an image and a resource.',
    inputSchema: noArguments,
    run: async () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: png, mimeType: 'image/png' },
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_tool_with_logging: {
    description: 'Sends three log messages.',
    inputSchema: noArguments,
    run: async (_params, { mcpReq }) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
        await pause(50, mcpReq.signal);
      }
      return text('Logged three times.');
    },
  },
  test_logging_tool: {
    description: 'Logs if the request asks for it.',
    inputSchema: noArguments,
    run: async (_params, { mcpReq }) => {
      await mcpReq.log('info', 'test_logging_tool runs');
      return text('Done.');
    },
  },
  test_sampling: {
    description: 'Asks the client to sample its model.',
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    run: async (params, { mcpReq }) => {
      const prompt = String((params['arguments'] as Fields)['prompt']);
      const answer = await mcpReq.send({
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 },
      });
      return text(`LLM response: ${JSON.stringify(answer.content)}`);
    },
  },
  test_elicitation: {
    description: 'Asks the user for a name and an address.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    run: async (params, context) => {
      const { action, content } = await elicit(context, String((params['arguments'] as Fields)['message']), {
        properties: {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        required: ['username', 'email'],
      });
      return text(`User response: action=${action}, content=${JSON.stringify(content)}`);
    },
  },
  test_elicitation_sep1034_defaults: elicitation('Asks with a default for every type.', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
  test_elicitation_sep1330_enums: elicitation('Asks with every kind of choice.', {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled('Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
  }),
  test_reconnection: {
    description: 'Breaks its stream before it answers; the client comes back for the answer.',
    inputSchema: noArguments,
    run: async (_params, { http, mcpReq }) => {
      http?.closeSSE?.();
      await pause(100, mcpReq.signal);
      return text('Reconnection test completed successfully.');
    },
  },
  test_missing_capability: {
    description: 'Needs a client that can sample.',
    inputSchema: noArguments,
    run: async (_params, context) => {
      if (declaredCapabilities(context)['sampling']) return text('The client can sample.');
      throw new RpcError(-32_021, 'The client must declare the capability sampling.', {
        requiredCapabilities: { sampling: {} },
      });
    },
  },
  test_streaming_elicitation: {
    description: 'Says something on its stream before it answers.',
    inputSchema: noArguments,
    run: async (_params, { mcpReq }) => {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 0, progress: 1 } });
      return text('Streamed.');
    },
  },
  json_schema_2020_12_tool: {
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: async () => text('Done.'),
  },
  ...inputRequiredTools,
};

export const extraPrompts: Readonly<Record<string, FixturePrompt>> = {
  test_prompt_with_embedded_resource: {
    arguments: [{ name: 'resourceUri', description: 'URI of the resource to embed', required: true }],
    run: async (params) => {
      const uri = String((params['arguments'] as Fields)['resourceUri']);
      return {
        messages: [
          { role: 'user', content: embedded(uri, 'text/plain', 'Embedded resource content for testing.') },
          { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
        ],
      };
    },
  },
  test_prompt_with_image: {
    arguments: [],
    run: async () => ({
      messages: [
        { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
        { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
      ],
    }),
  },
  ...inputRequiredPrompts,
};

export const binaryResource = {
  contents: [{ uri: 'test://static-binary', mimeType: 'image/png', blob: png }],
};

/** Additional methods of the revisions with a handshake. */
export const extraMethods: Readonly<Record<string, () => Fields>> = {
  'logging/setLevel': () => ({}),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
};

function embedded(uri: string, mimeType: string, content: string): Fields {
  return { type: 'resource', resource: { uri, mimeType, text: content } };
}

function titled(word: string): Fields[] {
  return ['First', 'Second', 'Third'].map((rank, index) => ({ const: `value${index + 1}`, title: `${rank} ${word}` }));
}

function elicitation(description: string, properties: Fields): FixtureTool {
  return {
    description,
    inputSchema: noArguments,
    run: async (_params, context) => {
      const { action, content } = await elicit(context, description, { properties });
      return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
    },
  };
}

/** Uses the request's `send`, so that it goes out on this call's stream; others may not be open. */
async function elicit({ mcpReq }: FixtureContext, message: string, schema: Fields) {
  const params = { message, requestedSchema: { type: 'object', ...schema } };
  return mcpReq.send({ method: 'elicitation/create', params });
}
