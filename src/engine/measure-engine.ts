import type { Measurement } from '../telemetry/sampling.ts';
import type { Engine } from './engine.ts';
import { engineRoles } from './engine-slice.ts';

/** Measures an engine. A remote engine reports its roles in its own metrics, so they are omitted here. */
export async function measureEngine(engine: Engine, { isRemote }: { isRemote: boolean }): Promise<Measurement[]> {
  const { queue, documents, chunks, unembedded, storage, roles = engineRoles } = await engine.status();
  const states = Object.entries(queue).map(
    ([state, value]): Measurement => ({ metric: 'jobs', labels: { state }, value }),
  );
  const measuredRoles = isRemote ? [] : engineRoles;
  return [
    ...states,
    ...measuredRoles.map(
      (role): Measurement => ({ metric: 'roles', labels: { role }, value: roles.includes(role) ? 1 : 0 }),
    ),
    { metric: 'documents', labels: {}, value: documents },
    { metric: 'passages', labels: {}, value: chunks },
    ...(unembedded === undefined
      ? []
      : [{ metric: 'unembedded', labels: { toolset: 'kb' }, value: unembedded } satisfies Measurement]),
    { metric: 'storageBytes', labels: { database: isRemote ? 'engine' : 'own' }, value: storage.bytes },
  ];
}
