import { isUtf8 } from 'node:buffer';
import { hostileString, hostileValue } from './hostile-values.ts';
import { createRandom, type Random } from './random.ts';
import { type Schema, validValue } from './valid-arguments.ts';

export interface ToolShape {
  readonly name: string;
  readonly inputSchema: Schema;
}

export interface Target {
  readonly tools: readonly ToolShape[];
  readonly revision: string;
}

export interface Generated {
  readonly bytes: Buffer;
  /** The ids that must be answered, once for each occurrence. */
  readonly ids: readonly (string | number)[];
  /** The method and name in the message, for the headers of 2026-07-28. */
  readonly method: string;
  readonly name: string | undefined;
}

/** Max bytes per message (`CARREL_MESSAGE_BYTES_MAX`). */
const bytesMax = 4 * 1024 * 1024;

const depthMax = 128;

const revisionKey = 'io.modelcontextprotocol/protocolVersion';

/** Without methods that leave a stream open: they get no answer. */
const methods = [
  ...[
    'ping',
    'tools/list',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'prompts/list',
    'prompts/get',
  ],
  ...[
    'completion/complete',
    'logging/setLevel',
    'initialize',
    'server/discover',
    'tasks/get',
    'tasks/list',
    'rpc.discover',
    '',
  ],
];

const notifications = ['notifications/initialized', 'notifications/progress', 'notifications/roots/list_changed', 'x'];

/** Message `index` of a seed's series. */
export function generate(seed: number, index: number, target: Target): Generated {
  const random = createRandom(seed, index);
  const batches = target.revision === '2025-03-26' || target.revision === '2024-11-05';
  if (batches && random.chance(0.03)) return generateBatch(index, target, random);
  const message = generateMessage(index, target, random);
  const text = mangle(JSON.stringify(message), random);
  // Invalid UTF-8 and overlong messages are rejected before they are parsed.
  const isRead = isUtf8(text) && text.length <= bytesMax;
  return { ...described(isRead ? text.toString('utf8') : ''), bytes: text };
}

function generateBatch(index: number, target: Target, random: Random): Generated {
  const count = 1 + random.below(8);
  const messages = Array.from({ length: count }, (_, at) => generateMessage(`${index}-${at}`, target, random));
  // The handshake can't be repeated, and is rejected in a batch; duplicate ids are answered separately.
  const bytes = Buffer.from(JSON.stringify(messages));
  // A batch that is nested too deep is rejected as a whole.
  const ids = depthOf(messages) > depthMax ? [] : messages.flatMap((message) => described(JSON.stringify(message)).ids);
  return { bytes, ids, method: '', name: undefined };
}

/** The nesting depth of arrays and objects. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce((deepest: number, part) => Math.max(deepest, depthOf(part)), 0);
}

function generateMessage(index: number | string, target: Target, random: Random): Schema {
  const id = random.chance(0.5) ? `q${index}` : Number(index) + 1000 || `n${index}`;
  const message: Schema = { jsonrpc: '2.0', id, ...generateCall(target, random) };
  if (target.revision === '2026-07-28') addRevision(message, target.revision);
  if (random.chance(0.03)) message['id'] = hostileValue(random);
  if (random.chance(0.02)) delete message['id'];
  if (random.chance(0.02)) message['jsonrpc'] = hostileValue(random);
  if (random.chance(0.02)) message['params'] = hostileValue(random);
  if (random.chance(0.02))
    Reflect.defineProperty(message, hostileString(random), { value: hostileValue(random), ...plain });
  return message;
}

function generateCall({ tools }: Target, random: Random): Schema {
  if (random.chance(0.04)) {
    return { method: random.pick(notifications), params: Object(hostileValue(random)) };
  }
  if (random.chance(0.15)) return { method: random.pick(methods), params: otherParams(random) };
  const tool = random.pick(tools);
  const args = Object(validValue(tool.inputSchema, random));
  const changes = random.chance(0.25) ? 0 : 1 + random.below(3);
  for (let change = 0; change < changes; change += 1) mutate(args, random);
  return { method: 'tools/call', params: { name: tool.name, arguments: args } };
}

function otherParams(random: Random): Schema {
  const names = [
    'name',
    'uri',
    'cursor',
    'ref',
    'argument',
    'level',
    'arguments',
    'taskId',
    'protocolVersion',
    'capabilities',
  ];
  return Object.fromEntries(names.filter(() => random.chance(0.4)).map((name) => [name, hostileValue(random)]));
}

/** Changes one random position in the value. */
function mutate(value: object, random: Random): void {
  const name = random.pick([...Object.keys(value), hostileString(random)]);
  // Own properties only: `__proto__` would reach the shared prototype.
  const inner: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
  if (typeof inner === 'object' && inner !== null && random.chance(0.6)) mutate(inner, random);
  else if (random.chance(0.15)) Reflect.deleteProperty(value, name);
  else Reflect.defineProperty(value, name, { value: hostileValue(random), ...plain });
}

const plain = { writable: true, enumerable: true, configurable: true };

function addRevision(message: Schema, revision: string): void {
  const meta = {
    [revisionKey]: revision,
    'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  message['params'] = { ...Object(message['params']), _meta: meta };
}

/** Rarely mangles the text itself: truncation, duplicate keys, broken numbers, invalid UTF-8. */
function mangle(text: string, random: Random): Buffer {
  if (random.chance(0.96)) return Buffer.from(text);
  const kind = random.below(6);
  const at = random.below(text.length);
  if (kind === 0) return Buffer.from(text.slice(0, at));
  if (kind === 1) return Buffer.from(`${text.slice(0, -1)},"method":"ping"}`);
  if (kind === 2) return Buffer.from(text.replace(/\d+/, '1e400'));
  if (kind === 3)
    return Buffer.from(text.slice(0, at) + random.pick(['"', '{', '[', '}', ']', ',', '\\', '\t']) + text.slice(at));
  const bytes = Buffer.from(text);
  if (kind === 4) bytes[random.below(bytes.length)] = random.below(256);
  else return Buffer.concat([Buffer.from('\ufeff'), bytes]);
  return Buffer.from(bytes.map((byte) => (byte === 10 ? 32 : byte)));
}

/** Determines the expected answers, without the program's own code. */
function described(text: string): Omit<Generated, 'bytes'> {
  const nothing = { ids: [], method: '', name: undefined };
  let message: Schema;
  try {
    message = Object(JSON.parse(text)) as Schema;
  } catch {
    return nothing;
  }
  const { id, method, params } = message;
  const name = Object(params)['name'] ?? Object(params)['uri'];
  const known = { method: typeof method === 'string' ? method : '', name: typeof name === 'string' ? name : undefined };
  const isRequest = message['jsonrpc'] === '2.0' && typeof method === 'string';
  const answerable =
    (typeof id === 'string' && id.length <= 20_000) || (typeof id === 'number' && Number.isSafeInteger(id));
  return { ids: isRequest && answerable ? [id] : [], ...known };
}
