/** How a field is encoded: its number, and its kind or nested message. */
type Field = readonly [number, 'text' | 'hex' | 'varint' | 'fixed32' | 'fixed64' | 'double' | string];

/** The OTLP fields that we send, by their JSON names (opentelemetry-proto 1.x). */
const messages: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  Request: { resourceSpans: [1, 'Resources'], resourceMetrics: [1, 'Resources'] },
  Resources: { resource: [1, 'Resource'], scopeSpans: [2, 'Scopes'], scopeMetrics: [2, 'Scopes'] },
  Resource: { attributes: [1, 'KeyValue'] },
  KeyValue: { key: [1, 'text'], value: [2, 'AnyValue'] },
  AnyValue: { stringValue: [1, 'text'] },
  Scopes: { scope: [1, 'Scope'], spans: [2, 'Span'], metrics: [2, 'Metric'] },
  Scope: { name: [1, 'text'], version: [2, 'text'] },
  Span: {
    traceId: [1, 'hex'],
    spanId: [2, 'hex'],
    traceState: [3, 'text'],
    parentSpanId: [4, 'hex'],
    name: [5, 'text'],
    kind: [6, 'varint'],
    startTimeUnixNano: [7, 'fixed64'],
    endTimeUnixNano: [8, 'fixed64'],
    attributes: [9, 'KeyValue'],
    status: [15, 'Status'],
    flags: [16, 'fixed32'],
  },
  Status: { code: [3, 'varint'] },
  Metric: {
    name: [1, 'text'],
    description: [2, 'text'],
    unit: [3, 'text'],
    gauge: [5, 'Numbers'],
    sum: [7, 'Numbers'],
    histogram: [9, 'Histogram'],
  },
  Numbers: { dataPoints: [1, 'Number'], aggregationTemporality: [2, 'varint'], isMonotonic: [3, 'varint'] },
  Number: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    asDouble: [4, 'double'],
    attributes: [7, 'KeyValue'],
  },
  Histogram: { dataPoints: [1, 'Distribution'], aggregationTemporality: [2, 'varint'] },
  Distribution: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    count: [4, 'fixed64'],
    sum: [5, 'double'],
    bucketCounts: [6, 'fixed64'],
    explicitBounds: [7, 'double'],
    attributes: [9, 'KeyValue'],
  },
};

/** Converts an OTLP request from JSON form to protobuf. */
export function toProtobuf(request: object): Buffer {
  return messageOf('Request', request);
}

function messageOf(type: string, value: object): Buffer {
  const fields = messages[type] ?? {};
  return Buffer.concat(
    Object.entries(value).flatMap(([name, content]) => {
      const field = fields[name];
      if (field === undefined) throw new Error(`OTLP's ${type} has no ${name}`);
      const [number, kind] = field;
      if (Array.isArray(content) && !(kind in messages)) {
        return [lengthDelimited(number, Buffer.concat(content.map((each) => scalar(kind, each).bytes)))];
      }
      return [content].flat().map((each) => fieldOf(number, kind, each));
    }),
  );
}

function fieldOf(number: number, kind: string, value: unknown): Buffer {
  if (kind in messages) return lengthDelimited(number, messageOf(kind, value as object));
  const { wireType, bytes } = scalar(kind, value);
  return wireType === delimited ? lengthDelimited(number, bytes) : Buffer.concat([tag(number, wireType), bytes]);
}

const delimited = 2;

function scalar(kind: string, value: unknown): { wireType: number; bytes: Buffer } {
  switch (kind) {
    case 'text':
      return { wireType: delimited, bytes: Buffer.from(String(value)) };
    case 'hex':
      return { wireType: delimited, bytes: Buffer.from(String(value), 'hex') };
    case 'varint':
      return { wireType: 0, bytes: varint(Number(value)) };
    case 'fixed32': {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(Number(value));
      return { wireType: 5, bytes };
    }
    case 'fixed64': {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(String(value)));
      return { wireType: 1, bytes };
    }
    default: {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(Number(value));
      return { wireType: 1, bytes };
    }
  }
}

function lengthDelimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([tag(number, delimited), varint(bytes.length), bytes]);
}

function tag(number: number, wireType: number): Buffer {
  return varint(number * 8 + wireType);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let remaining = value;
  for (; remaining >= 0x80; remaining = Math.floor(remaining / 0x80)) bytes.push((remaining % 0x80) + 0x80);
  return Buffer.from([...bytes, remaining]);
}
