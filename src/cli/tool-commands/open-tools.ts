import { servedData } from '../../app/configured-storage.ts';
import { serveRole } from '../../app/roles.ts';
import { openToolSession } from '../../app/tool-session.ts';
import { logOf } from '../debug-log.ts';
import type { OpenedTools, OpenTools } from './with-tools.ts';

/** Opens the tools in this process. */
export const openTools: OpenTools = async (line, toolset): Promise<OpenedTools> => {
  const session = await openToolSession(serveRole, { ...line.flags, toolsets: toolset }, logOf(line));
  for (const warning of session.config.warnings) process.stderr.write(`carrel: ${warning}\n`);
  return { ...session, process: 'this process', data: servedData(session.config) };
};
