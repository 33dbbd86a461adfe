import { addressText, defineSlice, integer, secret, text, toggle } from '../config/field.ts';

/** OpenTelemetry's own variables. They are often set machine-wide, so an unusable value is logged and doesn't stop Carrel. */
export const telemetrySlice = defineSlice('telemetry', 'OpenTelemetry', {
  endpoint: addressText({
    default: '',
    env: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    description:
      'The address that spans and metrics are sent to (OTLP over HTTP), such as `http://127.0.0.1:4318`. If empty, none are sent.',
  }),
  protocol: text({
    default: 'http/protobuf',
    env: ['OTEL_EXPORTER_OTLP_PROTOCOL'],
    description: 'The encoding: `http/protobuf` or `http/json`. gRPC is not supported.',
  }),
  headers: secret({
    env: ['OTEL_EXPORTER_OTLP_HEADERS'],
    description: 'Headers to send: `name=value,name=value`, percent-encoded.',
  }),
  timeoutMs: integer({
    default: 10_000,
    min: 1,
    max: 600_000,
    env: ['OTEL_EXPORTER_OTLP_TIMEOUT'],
    description: 'Timeout of one export, in milliseconds.',
  }),
  serviceName: text({
    default: '',
    env: ['OTEL_SERVICE_NAME'],
    description:
      'The service name to send. If empty, it is `carrel` for `carrel serve` and `carrel-<role>` for other roles.',
  }),
  resourceAttributes: text({
    default: '',
    env: ['OTEL_RESOURCE_ATTRIBUTES'],
    description: 'Resource attributes to send: `name=value,name=value`, percent-encoded.',
  }),
  tracesExporter: text({
    default: 'otlp',
    env: ['OTEL_TRACES_EXPORTER'],
    description: 'Set to `none` to send no spans.',
  }),
  metricsExporter: text({
    default: 'otlp',
    env: ['OTEL_METRICS_EXPORTER'],
    description: 'Set to `none` to send no metrics.',
  }),
  metricsEveryMs: integer({
    default: 60_000,
    min: 100,
    max: 86_400_000,
    env: ['OTEL_METRIC_EXPORT_INTERVAL'],
    description: 'The interval between exports of metrics, in milliseconds.',
  }),
  sampler: text({
    default: 'parentbased_always_on',
    env: ['OTEL_TRACES_SAMPLER'],
    description:
      "Which requests become spans: `always_on`, `always_off` or `traceidratio`. With the prefix `parentbased_`, the caller's decision takes precedence.",
  }),
  samplerArg: text({
    default: '1',
    env: ['OTEL_TRACES_SAMPLER_ARG'],
    description: 'The share of requests that `traceidratio` samples, from 0 to 1.',
  }),
  disabled: toggle({ default: false, env: ['OTEL_SDK_DISABLED'], description: 'Disable OpenTelemetry.' }),
});
