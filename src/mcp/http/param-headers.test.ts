import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findParamHeaderFault } from './param-headers.ts';

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    shard: { type: 'integer', 'x-mcp-header': 'Shard' },
    target: { type: 'object', properties: { dry: { type: 'boolean', 'x-mcp-header': 'Dry' } } },
    note: { type: 'string' },
  },
};

const fault = (args: object, headers: Record<string, string>) => findParamHeaderFault(schema, args, headers);

describe('headers that repeat arguments (2026-07-28, SEP-2243)', () => {
  it('accepts matching values: plain, Base64, numeric and nested', () => {
    assert.equal(fault({ region: 'eu' }, { 'mcp-param-region': 'eu' }), undefined);
    assert.equal(fault({ region: 'Köln' }, { 'mcp-param-region': '=?base64?S8O2bG4=?=' }), undefined);
    assert.equal(fault({ shard: 42 }, { 'mcp-param-shard': '42.0' }), undefined);
    assert.equal(fault({ target: { dry: true } }, { 'mcp-param-dry': 'true' }), undefined);
  });

  it('expects no header for an absent, null or unmarked argument', () => {
    assert.equal(fault({ region: null, note: 'x' }, {}), undefined);
    assert.equal(fault({}, { 'mcp-param-region': 'eu' }), undefined);
  });

  it('names a header that is missing, contradictory or badly encoded', () => {
    assert.match(String(fault({ region: 'eu' }, {})), /Mcp-Param-Region is missing/);
    assert.match(String(fault({ region: 'eu' }, { 'mcp-param-region': 'us' })), /Mcp-Param-Region and .* disagree/);
    assert.match(String(fault({ target: { dry: true } }, { 'mcp-param-dry': 'false' })), /Mcp-Param-Dry/);
    for (const bad of ['=?base64?SGVsbG8?=', '=?base64?SGVs!!!bG8=?=', '=?base64?/w==?=']) {
      assert.match(String(fault({ region: 'Hello' }, { 'mcp-param-region': bad })), /not canonical Base64/);
    }
  });
});
