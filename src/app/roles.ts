import { everyRevision, fessRevision } from '../mcp/protocol-versions.ts';
import type { Role } from './role.ts';

const common = {
  slices: [],
  revisions: everyRevision,
  tokenBeyondLoopback: false,
  bareCalls: false,
  envFile: false,
} satisfies Partial<Role>;

export const serveRole: Role = {
  ...common,
  name: 'serve',
  summary: 'every toolset behind one MCP server',
  instructions: 'Carrel gives you one door to knowledge.',
  overrides: {},
  tokenBeyondLoopback: true,
  openToolsets: async () => [],
};

export const roles: Readonly<Record<string, Role>> = { serve: serveRole };

/** Roles that the contract names and that this version can't run yet. */
export const rolesToCome: Readonly<Record<string, string>> = {
  fess: `the bridge to a Fess search server (it will speak ${fessRevision.handshake[0]})`,
  context: 'the context store',
  kb: 'the knowledge base server',
  engine: 'the knowledge base engine',
};
