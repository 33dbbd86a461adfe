import { everyRevision } from '../mcp/protocol-versions.ts';
import { fessSlice } from '../toolsets/fess/fess-slice.ts';
import { fessRole, openFessForServe } from './fess-role.ts';
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
  slices: [fessSlice],
  overrides: {},
  tokenBeyondLoopback: true,
  openToolsets: async (config, log, jobs) => openFessForServe(config, log, jobs),
};

export const roles: Readonly<Record<string, Role>> = { serve: serveRole, fess: fessRole };

/** Roles that the contract names and that this version can't run yet. */
export const rolesToCome: Readonly<Record<string, string>> = {
  context: 'the context store',
  kb: 'the knowledge base server',
  engine: 'the knowledge base engine',
};
