/** Whether a request becomes a span. `parentSampled` is what its caller did; undefined if it sent nothing. */
export type Sampler = (traceId: string, parentSampled: boolean | undefined) => boolean;

/** One of OpenTelemetry's samplers, by its name; undefined for one that is not known, or a share that is none. */
export function readSampler(name: string, argument: string): Sampler | undefined {
  const base = name.replace(/^parentbased_/, '');
  const root = rootSampler(base, argument);
  if (root === undefined || base === name) return root;
  return (traceId, parentSampled) => parentSampled ?? root(traceId, undefined);
}

function rootSampler(name: string, argument: string): Sampler | undefined {
  if (name === 'always_on') return () => true;
  if (name === 'always_off') return () => false;
  const share = argument === '' ? 1 : Number(argument);
  if (name !== 'traceidratio' || !(share >= 0 && share <= 1)) return undefined;
  // By the trace's id, so that all who take part in it decide alike.
  return (traceId) => Number.parseInt(traceId.slice(-13), 16) < share * 2 ** 52;
}
