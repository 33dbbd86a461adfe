import {
  allowFlag,
  engineRoleFlags,
  readOnlyFlag,
  serverFlags,
  toolsetsFlag,
  toolsFlag,
  transportFlags,
} from '../flags.ts';
import type { GroupedCommand } from './command.ts';

/** One command per role. This file must not import the roles, which would load their settings and tools. */
export const serverCommands: readonly GroupedCommand[] = [
  {
    name: 'serve',
    summary: 'serves all toolsets over MCP',
    flags: [...serverFlags, toolsetsFlag, toolsFlag, allowFlag],
  },
  { name: 'context', summary: "serves only the context tools (an agent's memory)", flags: serverFlags },
  {
    name: 'research',
    summary: 'serves only the research tools (web search, page fetching, notes)',
    flags: serverFlags,
  },
  { name: 'kb', summary: 'serves only the knowledge base tools', flags: [...serverFlags, allowFlag] },
  {
    name: 'fess',
    summary: 'serves only the tools for a Fess search server',
    details:
      'Settings are read from ~/.mcp-feiss/config.json. A file of the original Fess bridge works unchanged. docs/fess.md lists the settings.',
    flags: serverFlags,
  },
  {
    name: 'engine',
    summary: 'serves the HTTP API of the knowledge base engine',
    details: 'Without --ingest, --embed and --search, the engine does all three.',
    flags: [...transportFlags, readOnlyFlag, ...engineRoleFlags],
  },
];
