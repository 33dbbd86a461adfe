import { CarrelError } from '../base/errors.ts';
import type { Config } from '../config/load.ts';
import type { Storage } from '../storage/storage.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import type { MeasuredSource, Measurement } from '../telemetry/sampling.ts';
import type { SharedServices } from './shared-services.ts';

/**
 * Returns the sources of PostgreSQL's metrics: failed background work and, if configured, the read replica. An unusable replica
 * is reported as down.
 */
export function databaseSources(config: Config, shared: SharedServices): MeasuredSource[] {
  const { backend, postgresReadUrl } = config.of(storageSlice);
  if (backend === 'sqlite') return [];
  const sourceOf = (name: string, measure: (storage: Storage) => Promise<Measurement[]>): MeasuredSource => ({
    name,
    async measure() {
      const { resource: storage, release } = await shared.storage();
      try {
        return await measure(storage);
      } finally {
        await release();
      }
    },
  });
  return [
    sourceOf('background', measureBackground),
    ...(postgresReadUrl === undefined ? [] : [sourceOf('replica', measureReplica)]),
  ];
}

async function measureBackground({ background }: Storage): Promise<Measurement[]> {
  const counts = [...(background?.counts() ?? [])];
  return counts.map(([work, value]): Measurement => ({ metric: 'backgroundFailures', labels: { work }, value }));
}

async function measureReplica({ replica }: Storage): Promise<Measurement[]> {
  const { behindBytes, trouble } = (await replica?.check()) ?? {};
  if (behindBytes === undefined) throw new CarrelError('unavailable', trouble ?? 'There is no replica.');
  const reads = Object.entries(replica?.counts() ?? {});
  return [
    { metric: 'replicaLag', labels: {}, value: behindBytes },
    ...reads.map(([by, value]): Measurement => ({ metric: 'replicaReads', labels: { by }, value })),
  ];
}
