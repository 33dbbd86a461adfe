import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prometheusText } from './prometheus-text.ts';
import { createRecorder } from './recorder.ts';
import { createRegistry } from './registry.ts';
import { startSampling } from './sampling.ts';

test('writes counters, gauges and histograms in Prometheus text, with any label value', () => {
  const registry = createRegistry();
  registry.counter({ name: 'a.calls', help: 'Calls.' }).add({ 'by.whom': 'a "b"\\\nc' }, 2);
  registry.watch('gauge', { name: 'a.size', unit: 'By', help: 'Size.' }, () => [{ labels: {}, value: 1.5 }]);
  const times = registry.histogram({ name: 'a.duration', unit: 's', help: 'Time.' }, [0.1, 1]);
  for (const value of [0.1, 0.5, 7]) times.record({}, value);
  assert.equal(
    prometheusText(registry),
    `# HELP a_calls_total Calls.
# TYPE a_calls_total counter
a_calls_total{by_whom="a \\"b\\"\\\\\\nc"} 2
# HELP a_size_bytes Size.
# TYPE a_size_bytes gauge
a_size_bytes 1.5
# HELP a_duration_seconds Time.
# TYPE a_duration_seconds histogram
a_duration_seconds_bucket{le="0.1"} 1
a_duration_seconds_bucket{le="1"} 2
a_duration_seconds_bucket{le="+Inf"} 3
a_duration_seconds_sum 7.6
a_duration_seconds_count 3
`,
  );
});

test('bounds the number of label sets and loses nothing from the sum', () => {
  const registry = createRegistry();
  const counter = registry.counter({ name: 'a.calls', help: 'Calls.' });
  for (let index = 0; index < 10_000; index += 1) counter.add({ of: String(index) });
  const lines = prometheusText(registry)
    .split('\n')
    .filter((line) => line.startsWith('a_calls_total'));
  assert.equal(lines.length, 501);
  assert.equal(lines.at(-1), 'a_calls_total{otel_metric_overflow="true"} 9500');
});

test('counts callers past the first hundred together', () => {
  const registry = createRegistry();
  const recorder = createRecorder(registry);
  for (let index = 0; index < 150; index += 1) {
    recorder.call()({ at: 0, tool: 'find', caller: { id: 'x', name: `n${index}` }, ms: 1, outcome: 'ok' });
  }
  assert.match(prometheusText(registry), /carrel_caller_calls_total\{caller="\(others\)",result="ok"\} 50\n/);
});

test('samples databases at intervals without waiting for an unresponsive one', async () => {
  const registry = createRegistry();
  const value = (name: string): string | undefined =>
    new RegExp(`^${name} (.*)$`, 'm').exec(prometheusText(registry))?.[1];
  let measurements = 0;
  const never = Promise.withResolvers<never>();
  const sampling = startSampling(
    registry,
    [
      {
        name: 'quick',
        async measure() {
          measurements += 1;
          return [{ metric: 'documents', labels: {}, value: measurements }];
        },
      },
      { name: 'stuck', measure: () => never.promise },
      {
        name: 'gone',
        async measure() {
          throw new Error('no');
        },
      },
    ],
    { everyMs: 0, waitMs: 1 },
  );
  await sampling.refresh();
  await sampling.refresh();
  assert.equal(measurements, 1, 'not again until the first sample is answered');
  assert.equal(value('carrel_documents'), '1');
  assert.equal(value('carrel_source_up\\{source="quick"\\}'), '1');
  assert.equal(value('carrel_source_up\\{source="stuck"\\}'), '0');
  assert.equal(value('carrel_source_up\\{source="gone"\\}'), '0');
});
