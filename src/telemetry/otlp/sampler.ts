/** True if a request becomes a span. `parentSampled`: the caller's decision, undefined if it sent none. */
export type Sampler = (traceId: string, parentSampled: boolean | undefined) => boolean;

/** Returns the OpenTelemetry sampler with this name; undefined for an unknown name or an invalid ratio. */
export function readSampler(name: string, argument: string): Sampler | undefined {
  const base = name.replace(/^parentbased_/, '');
  const root = rootSampler(base, argument);
  if (root === undefined || base === name) return root;
  return (traceId, parentSampled) => parentSampled ?? root(traceId, undefined);
}

function rootSampler(name: string, argument: string): Sampler | undefined {
  if (name === 'always_on') return () => true;
  if (name === 'always_off') return () => false;
  const ratio = argument === '' ? 1 : Number(argument);
  if (name !== 'traceidratio' || !(ratio >= 0 && ratio <= 1)) return undefined;
  // The trace id decides, so that all services in a trace decide alike.
  return (traceId) => Number.parseInt(traceId.slice(-13), 16) < ratio * 2 ** 52;
}
