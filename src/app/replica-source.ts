import { CarrelError } from '../base/errors.ts';
import type { Config } from '../config/load.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import type { MeasuredSource, Measurement } from '../telemetry/sampling.ts';
import type { SharedParts } from './shared-parts.ts';

/** The figures of the read replica, where one is configured. One that cannot be used counts as a source that is not up. */
export function replicaSources(config: Config, shared: SharedParts): MeasuredSource[] {
  const { backend, postgresReadUrl } = config.of(storageSlice);
  if (backend === 'sqlite' || postgresReadUrl === undefined) return [];
  return [{ name: 'replica', measure: () => measureReplica(shared) }];
}

async function measureReplica(shared: SharedParts): Promise<Measurement[]> {
  const { part, release } = await shared.storage();
  try {
    const { behindBytes, trouble } = (await part.replica?.look()) ?? {};
    if (behindBytes === undefined) throw new CarrelError('unavailable', trouble ?? 'There is no replica.');
    const reads = Object.entries(part.replica?.counts() ?? {});
    return [
      { metric: 'replicaLag', labels: {}, value: behindBytes },
      ...reads.map(([by, value]): Measurement => ({ metric: 'replicaReads', labels: { by }, value })),
    ];
  } finally {
    await release();
  }
}
