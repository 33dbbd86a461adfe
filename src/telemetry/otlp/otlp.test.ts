import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../base/log.ts';
import { Secret } from '../../base/secret.ts';
import type { Operation } from '../recorder.ts';
import { createRegistry } from '../registry.ts';
import { telemetrySlice } from '../telemetry-slice.ts';
import { createOtlpExporter } from './exporter.ts';
import { readSampler } from './sampler.ts';
import { spanOf } from './spans.ts';
import { type OtlpTarget, readTarget, type TelemetrySettings } from './target.ts';

const defaults = Object.fromEntries(
  Object.entries(telemetrySlice.fields).map(([name, field]) => [name, field.default]),
) as unknown as TelemetrySettings;

function target(settings: Partial<TelemetrySettings>): OtlpTarget | string | undefined {
  return readTarget({ ...defaults, endpoint: 'http://127.0.0.1:4318', ...settings }, 'serve');
}

const operation: Operation = {
  method: 'tools/call',
  subject: { kind: 'tool', name: 'find' },
  transport: 'tcp',
  startedAt: 1_700_000_000_000.5,
  ms: 2,
  meta: undefined,
};

test("accepts OpenTelemetry's settings and explains unusable ones", () => {
  assert.equal(target({ endpoint: '' }), undefined);
  assert.equal(target({ disabled: true }), undefined);
  assert.equal(target({ tracesExporter: 'none', metricsExporter: 'none' }), undefined);
  for (const wrong of [
    { protocol: 'grpc' },
    { endpoint: 'localhost:4317' },
    { endpoint: 'http://user:password@127.0.0.1:4318' },
    { sampler: 'sometimes' },
    { sampler: 'traceidratio', samplerArg: '2' },
    { headers: new Secret('just text') },
    { headers: new Secret('x=%0d%0ay: z') },
    { resourceAttributes: '=x' },
  ]) {
    assert.match(String(target(wrong)), /^OTEL_\w+ must be /, JSON.stringify(wrong));
  }
  const read = target({
    resourceAttributes: 'service.name=a,b=c%2Cd',
    headers: new Secret('authorization=Basic%20eA=='),
  });
  assert.ok(typeof read === 'object');
  assert.deepEqual(read.headers, { authorization: 'Basic eA==' });
  assert.deepEqual([read.resource['service.name'], read.resource['b']], ['a', 'c,d']);
  const named = target({ serviceName: 'own', resourceAttributes: 'service.name=a' });
  assert.equal(typeof named === 'object' && named.resource['service.name'], 'own');
});

test('samplers: always on, always off, a ratio, and parent-based', () => {
  const low = '0'.repeat(31).concat('1');
  const high = 'f'.repeat(32);
  const decide = (name: string, share: string, id: string, parent?: boolean) => readSampler(name, share)?.(id, parent);
  assert.deepEqual([decide('always_on', '', low), decide('always_off', '', low)], [true, false]);
  assert.deepEqual(
    [decide('traceidratio', '0.5', low), decide('traceidratio', '0.5', high), decide('traceidratio', '1', high)],
    [true, false, true],
  );
  assert.deepEqual(
    [decide('parentbased_always_on', '', low, false), decide('parentbased_always_off', '', low, true)],
    [false, true],
  );
  assert.equal(decide('parentbased_traceidratio', '0', low), false);
});

test("ignores the caller's malformed trace and shortens long ids", () => {
  const always = () => true;
  const id = 'a'.repeat(32);
  for (const traceparent of [
    7,
    '',
    `00-${id}-${'0'.repeat(16)}-01`,
    `ff-${id}-${'b'.repeat(16)}-01`,
    `00-${id}-b-01`,
  ]) {
    assert.equal(spanOf({ ...operation, meta: { traceparent } }, always)?.parentSpanId, undefined, String(traceparent));
  }
  const parent = { traceparent: `00-${id}-${'b'.repeat(16)}-00`, tracestate: 'x=\n' };
  const span = spanOf({ ...operation, meta: parent, requestId: 'i'.repeat(20_000), error: '-32000' }, always);
  assert.deepEqual([span?.traceId, span?.parentSpanId, span?.traceState], [id, 'b'.repeat(16), undefined]);
  assert.equal(span?.attributes['jsonrpc.request.id']?.length, 128);
  assert.equal(span?.startTimeUnixNano, '1700000000000500000');
  const asCaller = readSampler('parentbased_always_on', '');
  assert.ok(asCaller);
  assert.equal(spanOf({ ...operation, meta: parent }, asCaller), undefined);
});

async function exporterTo(t: TestContext, answer: (response: ServerResponse, spans: number) => void) {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString());
      answer(response, body.resourceSpans[0].scopeSpans[0].spans.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const to = target({ endpoint: `http://127.0.0.1:${port}`, protocol: 'http/json', metricsExporter: 'none' });
  assert.ok(typeof to === 'object');
  const registry = createRegistry();
  const exporter = createOtlpExporter(to, { registry, refresh: async () => {}, log: createLogger([]) });
  const lost = () => {
    const metric = registry.collect().find(({ descriptor }) => descriptor.name === 'carrel.otlp.lost');
    return metric?.kind === 'counter' ? (metric.points[0]?.value ?? 0) : undefined;
  };
  const span = spanOf(operation, () => true);
  assert.ok(span);
  const add = (count: number): void => {
    for (let index = 0; index < count; index += 1) exporter.span(span);
  };
  return { exporter, lost, add };
}

test('retries a busy receiver, but not after a refusal', async (t) => {
  const statuses = [503, 200, 400];
  const seen: number[] = [];
  const third = Promise.withResolvers<void>();
  const { exporter, lost, add } = await exporterTo(t, (response, spans) => {
    seen.push(spans);
    response.writeHead(statuses[seen.length - 1] ?? 500, { 'retry-after': '0' }).end();
    if (seen.length === 3) third.resolve();
  });
  add(512);
  add(512);
  await third.promise;
  await exporter.close(1_000);
  assert.deepEqual(seen, [512, 512, 512]);
  assert.equal(lost(), 512);
});

test('an unresponsive receiver fills only a bounded queue and delays the stop no longer than the limit', async (t) => {
  const { exporter, lost, add } = await exporterTo(t, () => {});
  add(10_000);
  // 512 are in flight and 2,048 queued.
  assert.equal(lost(), 10_000 - 512 - 2_048);
  await exporter.close(1);
});
