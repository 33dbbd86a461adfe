import { version } from '../../base/package-info.ts';
import type { SliceValues } from '../../config/field.ts';
import type { telemetrySlice } from '../telemetry-slice.ts';
import { readSampler, type Sampler } from './sampler.ts';

export type TelemetrySettings = SliceValues<typeof telemetrySlice>;

export interface OtlpTarget {
  readonly baseUrl: string;
  readonly encoding: 'protobuf' | 'json';
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly sendsSpans: boolean;
  readonly sendsMetrics: boolean;
  readonly metricsEveryMs: number;
  readonly sampler: Sampler;
  /** Attributes of this process. */
  readonly resource: Readonly<Record<string, string>>;
}

/** Reads where to send telemetry: undefined if there is nothing to send, an error message if the settings are unusable. */
export function readTarget(settings: TelemetrySettings, role: string): OtlpTarget | string | undefined {
  const { endpoint, protocol, disabled, tracesExporter, metricsExporter } = settings;
  if (endpoint.trim() === '' || disabled) return undefined;
  const [sendsSpans, sendsMetrics] = [tracesExporter, metricsExporter].map((each) => each.trim() !== 'none');
  if (!sendsSpans && !sendsMetrics) return undefined;
  const encoding = encodings[protocol.trim()];
  if (encoding === undefined) {
    return 'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json; gRPC is not supported. Receivers take HTTP on port 4318.';
  }
  const url = URL.parse(endpoint.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return 'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL, such as http://127.0.0.1:4318.';
  }
  if (url.username !== '' || url.password !== '') {
    return 'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL without user name and password. Put them into OTEL_EXPORTER_OTLP_HEADERS.';
  }
  const sampler = readSampler(settings.sampler.trim(), settings.samplerArg.trim());
  if (sampler === undefined) {
    return 'OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, alone or after parentbased_, and OTEL_TRACES_SAMPLER_ARG a number from 0 to 1.';
  }
  const headers = readPairs(settings.headers?.reveal() ?? '');
  if (headers === undefined || !Object.entries(headers).every(isHeader)) {
    return 'OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs, separated by commas.';
  }
  const attributes = readPairs(settings.resourceAttributes);
  if (attributes === undefined) return 'OTEL_RESOURCE_ATTRIBUTES must be name=value pairs, separated by commas.';
  const serviceName = settings.serviceName.trim() || attributes['service.name'];
  return {
    baseUrl: url.href,
    encoding,
    headers,
    timeoutMs: settings.timeoutMs,
    sendsSpans: sendsSpans === true,
    sendsMetrics: sendsMetrics === true,
    metricsEveryMs: settings.metricsEveryMs,
    sampler,
    resource: {
      'service.version': version,
      'process.pid': String(process.pid),
      'process.runtime.name': 'nodejs',
      'process.runtime.version': process.versions.node,
      'telemetry.sdk.name': 'carrel',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': version,
      ...attributes,
      'service.name': serviceName || (role === 'serve' ? 'carrel' : `carrel-${role}`),
    },
  };
}

const encodings: Readonly<Record<string, OtlpTarget['encoding']>> = {
  'http/protobuf': 'protobuf',
  'http/json': 'json',
};

/** Parses `name=value,name=value`, percent-encoded as in W3C baggage. Returns undefined if it is invalid. */
function readPairs(text: string): Record<string, string> | undefined {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  try {
    return Object.fromEntries(
      pairs.map((pair) => {
        const separator = pair.indexOf('=');
        if (separator < 1) throw new Error('no name');
        return [
          decodeURIComponent(pair.slice(0, separator).trim()),
          decodeURIComponent(pair.slice(separator + 1).trim()),
        ];
      }),
    );
  } catch {
    return undefined;
  }
}

function isHeader([name, value]: readonly [string, string]): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value);
}
