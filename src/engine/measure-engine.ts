import type { Measurement } from '../telemetry/sampling.ts';
import type { Engine } from './engine.ts';
import { engineRoles } from './engine-slice.ts';

/** Measures an engine. `database` is the metrics label for the engine's database; a process may use two databases. */
export async function measureEngine(engine: Engine, database: 'own' | 'engine'): Promise<Measurement[]> {
  const { queue, documents, chunks, unembedded, storage, roles = engineRoles } = await engine.status();
  const states = Object.entries(queue).map(
    ([state, value]): Measurement => ({ metric: 'jobs', labels: { state }, value }),
  );
  const measuredRoles = database === 'own' ? engineRoles : [];
  return [
    ...states,
    ...measuredRoles.map(
      (role): Measurement => ({ metric: 'roles', labels: { role }, value: roles.includes(role) ? 1 : 0 }),
    ),
    { metric: 'documents', labels: {}, value: documents },
    { metric: 'passages', labels: {}, value: chunks },
    ...(unembedded === undefined
      ? []
      : [{ metric: 'unembedded', labels: { of: 'kb' }, value: unembedded } satisfies Measurement]),
    { metric: 'storageBytes', labels: { database }, value: storage.bytes },
  ];
}
