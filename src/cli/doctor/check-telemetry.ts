import type { Role } from '../../app/role.ts';
import { maskAddress } from '../../base/secret.ts';
import type { Config } from '../../config/load.ts';
import { metricsPayload, tracesPayload } from '../../telemetry/otlp/payload.ts';
import { createOtlpSender, isAccepted } from '../../telemetry/otlp/sender.ts';
import { readTarget } from '../../telemetry/otlp/target.ts';
import { telemetrySlice } from '../../telemetry/telemetry-slice.ts';
import type { Check } from './check-machine.ts';

const name = 'telemetry';
const timeoutMs = 5_000;

/** Checks that the configured OpenTelemetry receiver accepts an empty export. A failure only warns. */
export async function checkTelemetry(role: Role, config: Config): Promise<Check[]> {
  const target = readTarget(config.of(telemetrySlice), role.name);
  if (target === undefined) return [];
  if (typeof target === 'string') {
    return [{ name, ok: true, found: `telemetry is off: ${target}`, remedy: 'fix it, or set OTEL_SDK_DISABLED=true' }];
  }
  const sender = createOtlpSender({ ...target, timeoutMs });
  const [path, payload] = target.sendsSpans
    ? (['/v1/traces', tracesPayload([], target.resource)] as const)
    : (['/v1/metrics', metricsPayload([], target.resource, Date.now())] as const);
  const answer = await sender.post(path, payload);
  sender.close();
  const address = maskAddress(target.baseUrl);
  if (answer !== undefined && isAccepted(answer.status)) return [{ name, ok: true, found: address }];
  const problem = answer === undefined ? 'does not answer' : `answers ${answer.status}`;
  const remedy = 'start it, or check OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS';
  return [{ name, ok: true, found: `${address} ${problem}: spans and metrics are dropped`, remedy }];
}
