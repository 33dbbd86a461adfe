import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { parse as parseYaml } from 'yaml';
import type { Owner } from '../../fakes/loopback-server.ts';
import { fakeModel } from '../../fakes/ollama.ts';
import { type Carrel, carrelProgram, cleanEnv, makeFolder, startCarrel } from '../../support/child-program.ts';
import { pythonWith } from '../../support/python-clients.ts';
import { startStdioClient } from '../../support/stdio-client.ts';
import { type Family, type Receiver, startReceiver } from './receiver.ts';

const clients = pythonWith('clients');
const token = 'a-token-for-tests';
const secretQuery = 'zanzibar-weather-query';
const trace = { id: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };

/** The sum of all samples with this name and these labels. */
function sumOf(families: Map<string, Family>, name: string, labels: Record<string, string> = {}): number | undefined {
  const samples = [...families.values()].flatMap((family) => family.samples).filter(([each]) => each === name);
  const fitting = samples.filter(([, own]) => Object.entries(labels).every(([key, value]) => own[key] === value));
  return fitting.length === 0 ? undefined : fitting.reduce((sum, [, , value]) => sum + value, 0);
}

const skip = 'obstacle' in clients ? clients.obstacle : false;

describe('metrics and spans of carrel serve, contract §8, read by the parsers of Prometheus and OpenTelemetry', {
  skip,
}, () => {
  const endings: (() => unknown)[] = [];
  const owner: Owner = { after: (end) => void endings.unshift(end) };
  let receiver: Receiver;
  let carrel: Carrel;
  let partial: string;

  const scrape = (path = '/metrics', authorization = `Bearer ${token}`) =>
    fetch(`${carrel.origin}${path}`, { headers: authorization === '' ? {} : { authorization } });
  const families = async (): Promise<Map<string, Family>> => receiver.parse(await (await scrape()).text());

  const connect = async (bearer: string): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(carrel.url), { requestInit }));
    return client;
  };

  before(async () => {
    assert.ok('python' in clients);
    receiver = await startReceiver(owner, clients.python);
    const dataDir = makeFolder(owner);
    partial = addToken(dataDir, 'partial', '--toolsets', 'kb');
    carrel = await startCarrel(owner, ['serve', '--transport', 'http'], {
      dataDir,
      env: {
        CARREL_AUTH_TOKEN: token,
        ...(await fakeModel(owner)),
        OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k%20ey',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        OTEL_METRIC_EXPORT_INTERVAL: '100',
      },
    });
    const client = await connect(token);
    const traceparent = `00-${trace.id}-${trace.span}-01`;
    await client.callTool({
      name: 'kb_search',
      arguments: { query: secretQuery },
      _meta: { traceparent, tracestate: 'vendor=1' },
    });
    await client.callTool({ name: 'kb_addnote', arguments: { text: `A note on ${secretQuery}.` } });
    await client.callTool({ name: 'kb_get', arguments: { document_id: 999_999 } });
    await client.callTool({ name: `no-such-tool-${'x'.repeat(500)}`, arguments: {} }).catch(() => {});
    await client.listTools();
    await client.close();
    const other = await connect(partial);
    await other.callTool({ name: 'kb_status', arguments: {} });
    await other.close();
    await scrape('/metrics', '');
    await scrape('/metrics', 'Bearer wrong');
  });
  after(async () => {
    for (const end of endings) await end();
  });

  it('/metrics requires the token, and accepts GET and HEAD', async () => {
    const refused = await scrape('/metrics', '');
    assert.equal(refused.status, 401);
    assert.doesNotMatch(await refused.text(), /carrel_/);
    const forbidden = await scrape('/metrics', `Bearer ${partial}`);
    assert.equal(forbidden.status, 403, 'a token for a part');
    assert.doesNotMatch(await forbidden.text(), /carrel_/);
    const answer = await scrape();
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    const posted = await fetch(`${carrel.origin}/metrics`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(posted.status, 405);
  });

  it('calls are counted by tool, outcome and the name of the token, and unknown names together', async () => {
    const found = await families();
    assert.equal(sumOf(found, 'carrel_tool_calls_total', { tool: 'kb_search', outcome: 'ok' }), 1);
    assert.equal(sumOf(found, 'carrel_tool_calls_total', { tool: 'kb_get', outcome: 'document_not_found' }), 1);
    assert.equal(sumOf(found, 'carrel_tool_calls_total', { tool: '(unknown)', outcome: 'unknown_tool' }), 1);
    assert.equal(sumOf(found, 'carrel_caller_calls_total', { caller: 'default', result: 'ok' }), 2);
    assert.equal(sumOf(found, 'carrel_caller_calls_total', { caller: 'default', result: 'invalid' }), 2);
    assert.equal(sumOf(found, 'carrel_caller_calls_total', { caller: 'partial', result: 'ok' }), 1);
    const timed = { mcp_method_name: 'tools/call', gen_ai_tool_name: 'kb_search', network_transport: 'tcp' };
    assert.equal(sumOf(found, 'mcp_server_operation_duration_seconds_count', timed), 1);
    assert.equal(sumOf(found, 'mcp_server_operation_duration_seconds_bucket', { ...timed, le: '+Inf' }), 1);
  });

  it('reports rejections, the queue, vectors, storage and the process', async () => {
    const found = await families();
    assert.ok((sumOf(found, 'carrel_refusals_total', { reason: 'token' }) ?? 0) >= 2);
    assert.ok((sumOf(found, 'carrel_storage_size_bytes', { database: 'own' }) ?? 0) > 0);
    assert.ok((sumOf(found, 'process_resident_memory_bytes') ?? 0) > 1e6);
    for (const [name, labels] of [
      ['carrel_ingestion_jobs', { state: 'queued' }],
      ['carrel_unembedded', { toolset: 'kb' }],
      ['carrel_unembedded', { toolset: 'context' }],
      ['carrel_sessions', {}],
      ['carrel_http_connections', {}],
      ['nodejs_eventloop_delay_seconds', { percentile: '99' }],
    ] as const) {
      assert.notEqual(sumOf(found, name, labels), undefined, `${name} ${JSON.stringify(labels)}`);
    }
    assert.equal(sumOf(found, 'carrel_build_info', { role: 'serve' }), 1);
    assert.equal(sumOf(found, 'carrel_source_up'), 2);
  });

  it('every metric that the dashboard, the alerts and the documentation name exists', async () => {
    const found = await families();
    const samples = [...found.values()].flatMap(({ name, type, samples: own }) => [
      name,
      ...(type === 'counter' ? [`${name}_total`] : []),
      ...(type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`) : []),
      ...own.map(([each]) => each),
    ]);
    const expressions = [...dashboardExpressions(), ...alertExpressions(), ...documentedNames()];
    assert.ok(expressions.length > 15);
    for (const expression of expressions) {
      const named = expression.match(/\b(?:carrel|mcp|process|nodejs|v8js)_\w+/g) ?? [];
      assert.ok(named.length > 0, expression);
      for (const name of named) {
        const isLabel = new RegExp(`${name}\\s*(?:=|!|,|\\))`).test(expression) && !samples.includes(name);
        assert.ok(samples.includes(name) || (isLabel && /^mcp_(method_name|protocol_version)$/.test(name)), name);
      }
    }
  });

  it('spans follow the conventions for MCP, continue the trace of the caller, and hold nothing of the content', async () => {
    const { exports, spans, resource } = await receiver.spans(5);
    assert.deepEqual([exports[0]?.kind, exports[0]?.key], ['application/x-protobuf', 'k ey']);
    assert.deepEqual([resource['service.name'], resource['deployment.environment.name']], ['carrel', 'test']);
    const search = spans.find(({ name }) => name === 'tools/call kb_search');
    assert.ok(search);
    assert.equal(search.kind, 'SPAN_KIND_SERVER');
    assert.equal(Buffer.from(search.traceId, 'base64').toString('hex'), trace.id);
    assert.equal(Buffer.from(search.parentSpanId ?? '', 'base64').toString('hex'), trace.span);
    assert.equal(search.traceState, 'vendor=1');
    assert.ok(BigInt(search.endTimeUnixNano) > BigInt(search.startTimeUnixNano));
    const { 'jsonrpc.request.id': request, 'mcp.session.id': session, ...attributes } = search.attributes;
    assert.match(request ?? '', /^\d+$/);
    assert.match(session ?? '', /^[\da-f]{32}$/);
    assert.deepEqual(attributes, {
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'kb_search',
      'gen_ai.operation.name': 'execute_tool',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'mcp.protocol.version': '2025-11-25',
    });
    const failed = spans.find(({ name }) => name === 'tools/call kb_get');
    assert.deepEqual([failed?.attributes['error.type'], failed?.status?.code], ['tool_error', 'STATUS_CODE_ERROR']);
    const unknown = spans.find(({ attributes: own }) => own['error.type'] === '-32602');
    assert.equal(unknown?.name, 'tools/call');
    assert.ok(spans.some(({ name }) => name === 'tools/list'));
    assert.doesNotMatch(JSON.stringify(exports), new RegExp(`${secretQuery}|no-such-tool|${token}`));
  });

  it('exports metrics in the format of OpenTelemetry', async () => {
    const { metrics } = await receiver.metrics(2);
    const duration = metrics.get('mcp.server.operation.duration');
    assert.equal(duration?.unit, 's');
    const [point] = duration?.histogram?.dataPoints ?? [];
    assert.equal(point?.bucketCounts.length, (point?.explicitBounds.length ?? 0) + 1);
    assert.equal(metrics.get('carrel.tool.calls')?.sum?.isMonotonic, true);
    assert.equal(metrics.get('carrel.tool.calls')?.sum?.aggregationTemporality, 'AGGREGATION_TEMPORALITY_CUMULATIVE');
    assert.ok(metrics.get('carrel.storage.size')?.gauge);
  });

  it('over stdio as JSON: the rest is sent before the program ends', async (t) => {
    assert.ok('python' in clients);
    const other = await startReceiver(t, clients.python);
    const client = startStdioClient(carrelProgram, ['research'].concat('--transport', 'stdio'), {
      OTEL_EXPORTER_OTLP_ENDPOINT: other.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_SERVICE_NAME: 'desk',
    });
    await client.handshake();
    await client.request('my id', 'tools/call', { name: 'list_notes', arguments: {} });
    await client.request(2, 'no/such/method');
    assert.equal(await client.end(), 0);
    const { exports, spans, resource } = await other.spans(2);
    assert.equal(exports[0]?.kind, 'application/json');
    assert.equal(resource['service.name'], 'desk');
    assert.deepEqual(
      spans.map(({ name, attributes }) => [name, attributes['network.transport'], attributes['jsonrpc.request.id']]),
      [
        ['tools/call list_notes', 'pipe', 'my id'],
        ['_OTHER', 'pipe', '2'],
      ],
    );
    assert.ok((await other.metrics(1)).metrics.has('process.cpu.time'));
    const env = cleanEnv(makeFolder(t), { OTEL_EXPORTER_OTLP_ENDPOINT: other.url });
    const doctor = execFileSync(process.execPath, [carrelProgram, 'doctor', 'research'], { env, encoding: 'utf8' });
    assert.match(doctor, new RegExp(`^ok   telemetry +${other.url}/$`, 'm'));
  });
});

function addToken(dataDir: string, ...args: string[]): string {
  const command = [carrelProgram, 'token', 'add', ...args];
  return execFileSync(process.execPath, command, { env: cleanEnv(dataDir), encoding: 'utf8', stdio: 'pipe' }).trim();
}

describe('without a receiver', () => {
  it('reports an unreachable receiver or an unsupported protocol, and serves on', async () => {
    const settings = [
      { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, said: /OpenTelemetry receiver does not answer/ },
      {
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
        said: /OpenTelemetry export is off: .*gRPC is not supported/,
      },
    ];
    await Promise.all(
      settings.map(async ({ env, said }) => {
        const client = startStdioClient(carrelProgram, ['research', '--transport', 'stdio'], env);
        await client.handshake();
        const answer = await client.request(1, 'tools/call', { name: 'list_notes', arguments: {} });
        assert.ok(answer.result);
        assert.equal(await client.end(), 0);
        assert.match(client.program.stderrText(), said);
      }),
    );
  });
});

const root = join(import.meta.dirname, '../../..');
const deploy = join(root, 'deploy');

/** The first column of the documented table of metrics. */
function documentedNames(): string[] {
  const rows = readFileSync(join(root, 'docs/metrics.md'), 'utf8').match(/^\| `[^|]+(?= \|)/gm) ?? [];
  return rows.flatMap((row) => row.match(/(?<=`)(?:carrel|mcp)_\w+(?=`)/g) ?? []);
}

function dashboardExpressions(): string[] {
  const dashboard: { panels: { targets?: { expr: string }[] }[] } = JSON.parse(
    readFileSync(join(deploy, 'grafana-dashboard.json'), 'utf8'),
  );
  return dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

function alertExpressions(): string[] {
  const file = parseYaml(readFileSync(join(deploy, 'prometheus-alerts.yaml'), 'utf8')) as {
    groups: { rules: { expr: string }[] }[];
  };
  return file.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
}
