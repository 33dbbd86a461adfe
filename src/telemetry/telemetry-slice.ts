import { addressText, defineSlice, integer, secret, text, toggle } from '../config/field.ts';

/** OpenTelemetry's own variables. They are often set machine-wide, so an unusable value is logged and doesn't stop Carrel. */
export const telemetrySlice = defineSlice('telemetry', 'OpenTelemetry', {
  endpoint: addressText({
    default: '',
    env: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    description: 'Where spans and metrics are sent (OTLP over HTTP), such as `http://127.0.0.1:4318`. Empty: not sent.',
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
    description: 'Timeout for the receiver, in milliseconds.',
  }),
  serviceName: text({
    default: '',
    env: ['OTEL_SERVICE_NAME'],
    description: 'The service name to send. Empty: `carrel`, or `carrel-` and the role.',
  }),
  resourceAttributes: text({
    default: '',
    env: ['OTEL_RESOURCE_ATTRIBUTES'],
    description: 'Resource attributes: `name=value,name=value`, percent-encoded.',
  }),
  tracesExporter: text({ default: 'otlp', env: ['OTEL_TRACES_EXPORTER'], description: '`none` sends no spans.' }),
  metricsExporter: text({ default: 'otlp', env: ['OTEL_METRICS_EXPORTER'], description: '`none` sends no metrics.' }),
  metricsEveryMs: integer({
    default: 60_000,
    min: 100,
    max: 86_400_000,
    env: ['OTEL_METRIC_EXPORT_INTERVAL'],
    description: 'How often metrics are sent, in milliseconds.',
  }),
  sampler: text({
    default: 'parentbased_always_on',
    env: ['OTEL_TRACES_SAMPLER'],
    description:
      'Which requests become spans: `always_on`, `always_off`, `traceidratio`, or one of these after `parentbased_` to follow the caller.',
  }),
  samplerArg: text({
    default: '1',
    env: ['OTEL_TRACES_SAMPLER_ARG'],
    description: 'The share for `traceidratio`, 0 to 1.',
  }),
  disabled: toggle({ default: false, env: ['OTEL_SDK_DISABLED'], description: 'Send nothing.' }),
});
