import { allowFlag, engineRoleFlags, listening, readOnlyFlag, serving, toolsetsFlag, toolsFlag } from '../flags.ts';
import type { GroupedCommand } from './command.ts';

/** One command per role. This file must not import the roles, which would load their settings and tools. */
export const serverCommands: readonly GroupedCommand[] = [
  {
    name: 'serve',
    summary: 'every toolset behind one MCP server',
    flags: [...serving, toolsetsFlag, toolsFlag, allowFlag],
  },
  { name: 'context', summary: "the context store: an agent's memory", flags: serving },
  { name: 'research', summary: 'web search, page fetching, notes', flags: serving },
  { name: 'kb', summary: 'the knowledge base tools, in front of a kb engine', flags: [...serving, allowFlag] },
  {
    name: 'fess',
    summary: 'the bridge to a Fess search server (configured in ~/.mcp-feiss/config.json)',
    more: 'The folder ~/.mcp-feiss is the one that the original Fess bridge uses, so its configuration file works unchanged. docs/fess.md lists the settings.',
    flags: serving,
  },
  {
    name: 'engine',
    summary: 'the knowledge base engine: documents, ingestion and search over HTTP',
    flags: [...listening, readOnlyFlag, ...engineRoleFlags],
  },
];
