import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { createCatalogue } from './catalogue.ts';
import { defineTool, type Effect } from './tool.ts';
import type { Toolset } from './toolset.ts';

function toolset(name: string, tools: Record<string, Effect>, more: Partial<Toolset> = {}): Toolset {
  return {
    name,
    failures: { as: 'result' },
    tools: Object.entries(tools).map(([toolName, effect]) =>
      defineTool({
        name: toolName,
        title: toolName,
        description: toolName,
        effect,
        input: z.object({}),
        output: z.object({ ok: z.boolean() }),
        run: async () => ({ ok: true }),
      }),
    ),
    ...more,
  };
}

const everything = { readOnly: false, disabledTools: [] };

test('tools are listed in the order of toolsets, with annotations that follow from their effect (contract §2)', () => {
  const { listings } = createCatalogue(
    [toolset('x', { b: 'read', a: 'change' }), toolset('y', { c: 'add' })],
    everything,
  );
  assert.deepEqual(
    listings.map(({ name, annotations: { readOnlyHint, destructiveHint } }) => [name, readOnlyHint, destructiveHint]),
    [
      ['b', true, false],
      ['a', false, true],
      ['c', false, false],
    ],
  );
});

test('a tool without arguments lists empty properties', () => {
  const [listing] = createCatalogue([toolset('x', { a: 'read' })], everything).listings;
  assert.deepEqual(listing?.inputSchema, { type: 'object', properties: {}, additionalProperties: false });
});

test('lists arguments without bounds that errors name, and without lists of types', () => {
  const tool = defineTool({
    name: 'bounded',
    title: 'Bounded',
    description: 'For tests.',
    effect: 'read' as const,
    input: z.object({
      id: z.union([z.int(), z.string()]),
      names: z.array(z.string().min(1)).max(2000),
      from: z.int().min(0).default(0),
      top: z.int().min(1).max(100).default(10),
      force: z.boolean().default(false),
    }),
    output: z.object({}),
    run: async () => ({}),
  });
  const properties = (listsBounds: boolean) => {
    const toolset: Toolset = { name: 'test', tools: [tool], failures: { as: 'result' }, listsBounds };
    const [listing] = createCatalogue([toolset], { readOnly: false, disabledTools: [] }).listings;
    return (listing?.inputSchema as { properties: unknown } | undefined)?.properties;
  };
  const id = { anyOf: [{ type: 'integer' }, { type: 'string' }] };
  assert.deepEqual(properties(false), {
    id,
    names: { type: 'array', items: { type: 'string' } },
    from: { type: 'integer', default: 0 },
    top: { type: 'integer', maximum: 100, default: 10 },
    force: { type: 'boolean', default: false },
  });
  assert.deepEqual(properties(true), {
    id,
    names: { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: 2000 },
    from: { type: 'integer', minimum: 0, default: 0 },
    top: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
    force: { type: 'boolean', default: false },
  });
});

test('read-only mode enables only reading tools and reports others as disabled', () => {
  const catalogue = createCatalogue([toolset('x', { look: 'read', store: 'add', peek: 'read' })], {
    readOnly: true,
    // Upstreams 1.2: case-insensitive.
    disabledTools: ['Peek'],
  });
  assert.deepEqual(
    catalogue.listings.map(({ name }) => name),
    ['look'],
  );
  assert.equal(catalogue.isDisabled('store') && catalogue.isDisabled('peek'), true);
  assert.equal(catalogue.isDisabled('nothing'), false);
});

test('with a list of names, other tools are unlisted but callable', () => {
  const listedTools = new Set(['b', 'unknown']);
  const toolsets = [toolset('x', { a: 'read', b: 'add', c: 'change' })];
  const { listings, unlisted, find } = createCatalogue(toolsets, {
    readOnly: false,
    disabledTools: ['c'],
    listedTools,
  });
  assert.deepEqual([listings.map(({ name }) => name), unlisted], [['b'], ['a']]);
  assert.ok(find('a') && !find('c'));
});

test('calls that may become jobs declare it in the output schema, and accept `wait`', () => {
  const [listing] = createCatalogue([toolset('x', { a: 'read' }, { slowCallMs: 10 })], everything).listings;
  const output = listing?.outputSchema as { type: string; anyOf: { properties: object }[] };
  assert.equal(output.type, 'object');
  assert.deepEqual(
    output.anyOf.map(({ properties }) => Object.keys(properties)),
    [['ok'], ['jobId', 'state', 'message']],
  );
  const input = listing?.inputSchema as { properties: object };
  assert.ok('wait' in input.properties);
});

test('if failures are results, `error` alone fits the output schema; otherwise fields are required', () => {
  const required = (failures: Toolset['failures']): unknown => {
    const [listing] = createCatalogue([toolset('x', { a: 'read' }, { failures })], everything).listings;
    const schema = listing?.outputSchema as { required?: string[] } | undefined;
    return schema?.required;
  };
  assert.equal(required({ as: 'result' }), undefined);
  assert.deepEqual(required({ as: 'jsonrpc' }), ['ok']);
});

test('duplicate or invalid tool names are programming errors', () => {
  assert.throws(() => createCatalogue([toolset('x', { a: 'read' }), toolset('y', { a: 'read' })], everything));
  assert.throws(() => createCatalogue([toolset('x', { ['a'.repeat(65)]: 'read' })], everything));
});
