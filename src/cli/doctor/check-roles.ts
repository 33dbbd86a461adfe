import type { Role } from '../../app/role.ts';
import type { Config } from '../../config/load.ts';
import { engineRoles, engineSlice } from '../../engine/engine-slice.ts';
import { storageSlice } from '../../storage/storage-slice.ts';
import { kbSlice } from '../../toolsets/kb/kb-slice.ts';
import type { Check } from './check.ts';

/** Reports the work that the local engine leaves to other processes. Empty if it leaves none, or if the engine is remote. */
export function checkRoles(role: Role, config: Config): Check[] {
  if (!role.slices.includes(engineSlice)) return [];
  if (role.slices.includes(kbSlice) && config.of(kbSlice).engineUrl !== undefined) return [];
  const { roles } = config.of(engineSlice);
  const left = engineRoles.filter((each) => !roles.includes(each));
  if (left.length === 0) return [];
  const found = `${roles.join(', ')}; left to other processes on the database: ${left.join(', ')}`;
  const isAlone = config.of(storageSlice).backend === 'sqlite' && left.some((each) => each !== 'search');
  return [
    {
      name: 'roles',
      ok: true,
      found,
      ...(isAlone ? { remedy: 'start a process with these roles on the same SQLite file, or unset KB_ROLES' } : {}),
    },
  ];
}
