import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { envelopeBytes } from '../../answers/answer-limit.ts';
import { wireBytes } from '../../base/wire-bytes.ts';
import { createCallJobs } from '../../jobs/call-jobs.ts';
import type { ResourceProvider } from '../../tools/resource.ts';
import { defineTool } from '../../tools/tool.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { createCallSlots } from './call-slots.ts';
import { createLinksTo } from './resource-links.ts';
import { createResources } from './resources.ts';

const shelf: ResourceProvider = {
  uriPrefix: 'shelf://a.b/',
  templates: [
    { uriTemplate: 'shelf://a.b/{id}', name: 'book', description: 'A book.', mimeType: 'text/plain' },
    { uriTemplate: 'shelf://a.b/{id}/cover', name: 'cover', description: 'A cover.', mimeType: 'image/png' },
  ],
  list: async () => ({ resources: [] }),
  read: async ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: '' }] }),
};

const search = defineTool({
  name: 'search',
  title: 'Search',
  description: 'Searches.',
  effect: 'read',
  resultFields: { list: 'hits', title: 'about', unless: 'as_of' },
  input: z.object({}),
  output: z.object({}),
  run: async () => ({}),
});

const library: Toolset = { name: 'library', tools: [search], failures: { as: 'result' }, resources: [shelf] };
const callSlots = createCallSlots([library], { runningMax: 1, waitingMax: 0 });
const resources = createResources([library], createCallJobs(), callSlots);
const inFull = 1024 * 1024;

test('links only to our URIs, once each, with type and first line', () => {
  const hits = [
    { uri: 'shelf://a.b/2', about: '\n  The title \nThe text' },
    { uri: 'shelf://a.b/1/cover', about: '🙂'.repeat(101) },
    { uri: 'shelf://a.b/2', about: 'another part of it' },
    { uri: 'shelf://a.b/3', about: 7 },
    ...['https://example.com/', 'shelf://axb/1', 'shelf://a.b/', 'shelf://a.b/1/page', 'shelf://a.b/1?cursor=x', 7].map(
      (uri) => ({ uri, about: 'not here' }),
    ),
    ...[null, 'shelf://a.b/4', {}],
  ];
  assert.deepEqual(createLinksTo(resources.mimeTypeOf, inFull, undefined)(search, { hits }), [
    { type: 'resource_link', uri: 'shelf://a.b/2', name: '2', title: 'The title', mimeType: 'text/plain' },
    {
      type: 'resource_link',
      uri: 'shelf://a.b/1/cover',
      name: 'cover',
      title: `${'🙂'.repeat(99)}…`,
      mimeType: 'image/png',
    },
    { type: 'resource_link', uri: 'shelf://a.b/3', name: '3', title: '3', mimeType: 'text/plain' },
  ]);
});

test('creates no links without a result list, or for results that may be outdated', () => {
  const hits = [{ uri: 'shelf://a.b/1', about: 'x' }];
  for (const data of [{}, { hits: null }, { hits: { 0: hits[0] } }, { status: 'processing', jobId: '1' }]) {
    assert.deepEqual(createLinksTo(resources.mimeTypeOf, inFull, {})(search, data), []);
  }
  assert.deepEqual(createLinksTo(resources.mimeTypeOf, inFull, { as_of: '2026-01-01' })(search, { hits }), []);
  assert.equal(createLinksTo(resources.mimeTypeOf, inFull, { as_of: null })(search, { hits }).length, 1);
});

test('links never make an answer longer than the limit', () => {
  const hits = Array.from({ length: 100 }, (_, index) => ({ uri: `shelf://a.b/${index}`, about: 'ü"'.repeat(200) }));
  const own = wireBytes({ hits }, 2);
  for (const spare of [0, 100, 5_000]) {
    const links = createLinksTo(resources.mimeTypeOf, envelopeBytes + own + spare, undefined)(search, { hits });
    const bytes = Buffer.byteLength(JSON.stringify(links)) - '[]'.length;
    assert.ok(bytes <= spare, `${bytes} of ${spare}`);
    assert.equal(links.length > 0, spare > 1_000);
  }
});
