import { createHmac } from 'node:crypto';
import { RpcError } from '../../src/mcp/wire-errors.ts';
import {
  declaredCapabilities,
  type Fields,
  type FixtureContext,
  type FixturePrompt,
  type FixtureTool,
  noArguments,
  text,
} from './fixture-model.ts';

/** 2026-07-28 asks the client by answering "input required"; the client then repeats the call with the input. */
export const inputRequiredTools: Readonly<Record<string, FixtureTool>> = {
  test_input_required_result_elicitation: tool(async ({ mcpReq }) => {
    const name = answered(mcpReq.inputResponses, 'user_name')?.['name'];
    if (typeof name !== 'string') return ask({ user_name: question('What is your name?', { name: 'string' }) });
    return text(`Hello, ${name}!`);
  }),
  test_input_required_result_sampling: tool(async ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.['capital_question'];
    if (answer === undefined) return ask({ capital_question: sampling('What is the capital of France?') });
    return text(JSON.stringify(answer));
  }),
  test_input_required_result_list_roots: tool(async ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.['client_roots'];
    if (answer === undefined) return ask({ client_roots: roots });
    return text(JSON.stringify(answer));
  }),
  test_input_required_result_request_state: tool(async ({ mcpReq }) => {
    const confirm = { confirm: question('Please confirm', { ok: 'boolean' }) };
    if (mcpReq.inputResponses?.['confirm'] === undefined) return ask(confirm, sign('confirming'));
    return text(unsign(mcpReq.requestState()) === 'confirming' ? 'state-ok' : 'state is missing');
  }),
  test_input_required_result_tampered_state: tool(async ({ mcpReq }) => {
    const confirm = { confirm: question('Please confirm', { ok: 'boolean' }) };
    if (mcpReq.inputResponses?.['confirm'] === undefined) return ask(confirm, sign('confirming'));
    return text(String(unsign(mcpReq.requestState())));
  }),
  test_input_required_result_multiple_inputs: tool(async ({ mcpReq }) => {
    const wanted = {
      user_name: question('What is your name?', { name: 'string' }),
      greeting: sampling('Generate a greeting'),
      client_roots: roots,
    };
    const complete = Object.keys(wanted).every((key) => mcpReq.inputResponses?.[key] !== undefined);
    return complete ? text(JSON.stringify(mcpReq.inputResponses)) : ask(wanted, sign('asking'));
  }),
  test_input_required_result_multi_round: tool(async ({ mcpReq }) => {
    const step1 = { step1: question('Step 1: What is your name?', { name: 'string' }) };
    const step2 = { step2: question('Step 2: What is your favorite color?', { color: 'string' }) };
    const round = mcpReq.requestState() === undefined ? undefined : unsign(mcpReq.requestState());
    if (round === 'step 1') return ask(step2, sign('step 2'));
    return round === 'step 2' ? text(JSON.stringify(mcpReq.inputResponses)) : ask(step1, sign('step 1'));
  }),
  test_input_required_result_capabilities: tool(async (context) => {
    const { sampling: canSample, elicitation: canAsk } = declaredCapabilities(context);
    return ask({
      ...(canSample ? { sampled: sampling('Say hello') } : {}),
      ...(canAsk ? { asked: question('What is your name?', { name: 'string' }) } : {}),
    });
  }),
};

export const inputRequiredPrompts: Readonly<Record<string, FixturePrompt>> = {
  test_input_required_result_prompt: {
    arguments: [],
    run: async (_params, { mcpReq }) => {
      const context = answered(mcpReq.inputResponses, 'user_context')?.['context'];
      if (typeof context !== 'string') {
        return ask({ user_context: question('What context should the prompt use?', { context: 'string' }) });
      }
      return { messages: [{ role: 'user', content: { type: 'text', text: `Context: ${context}` } }] };
    },
  },
};

function tool(run: (context: FixtureContext) => Promise<Fields>): FixtureTool {
  return {
    description: 'Needs input from the client before it can answer.',
    inputSchema: noArguments,
    run: (_params, context) => run(context),
  };
}

function ask(inputRequests: Fields, requestState?: string): Fields {
  return { resultType: 'input_required', inputRequests, ...(requestState === undefined ? {} : { requestState }) };
}

function question(message: string, fields: Record<string, string>): Fields {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, { type }]));
  const requestedSchema = { type: 'object', properties, required: Object.keys(fields) };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

function sampling(prompt: string): Fields {
  const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
  return { method: 'sampling/createMessage', params: { messages, maxTokens: 100 } };
}

const roots: Fields = { method: 'roots/list', params: {} };

/** The user's input, if it has the requested shape. */
function answered(responses: Readonly<Record<string, unknown>> | undefined, key: string): Fields | undefined {
  const response = responses?.[key];
  if (typeof response !== 'object' || response === null || !('content' in response)) return undefined;
  const { content } = response;
  return typeof content === 'object' && content !== null ? (content as Fields) : undefined;
}

function sign(state: string): string {
  return `${state}.${mac(state)}`;
}

function unsign(signed: unknown): string {
  const [state = '', signature] = String(signed).split('.');
  if (signature === mac(state)) return state;
  throw new RpcError(-32_602, 'requestState is not one that this server gave out.');
}

function mac(state: string): string {
  return createHmac('sha256', 'conformance').update(state).digest('hex');
}
