import { roles } from '../app/roles.ts';

export function helpText(): string {
  const roleLines = Object.values(roles).map(({ name, summary }) => line(name, summary));
  return `carrel: one door to knowledge for AI agents, over the Model Context Protocol

Usage: carrel [command] [flags]

Servers (without a command: serve)
${roleLines.join('\n')}

For people
${line('doctor [role]', 'checks this machine and says how to fix what is wrong')}
${line('config [role]', 'shows the effective settings and where each came from')}
${line('tools [role]', 'lists the tools and their cost in tokens')}
${line('add <paths...>', "adds files and folders to the knowledge base; --watch follows a folder's changes")}
${line('backup <file>', 'writes all data to one file, while servers keep running')}
${line('restore <file>', 'replaces all data with a backup; --force if there is any')}
${line('export [file]', 'writes the context entries as JSONL')}
${line('import <file>', 'adds context entries from an export, an mcp-context-server database, memory.jsonl or conversations.json')}

Flags
${line('--transport <stdio|http>', 'how clients connect')}
${line('--host <address>', 'where to listen (default 127.0.0.1)')}
${line('--port <number>', 'which port; 0 picks any free one')}
${line('--toolsets <a,b,c>', 'which toolsets serve offers')}
${line('--read-only', 'offer only tools that change nothing')}
${line('--cody', 'speak revision 2024-11-05, with its HTTP+SSE pair')}
${line('--config <file>', 'configuration file (default ~/.carrel/config.json)')}
${line('--data-dir <folder>', 'where data lives (default ~/.carrel)')}
${line('--json', 'for people: print JSON')}
${line('--collection, --tag', 'for add: collection and tags of the documents')}
${line('--include, --exclude', 'for add: file patterns, such as "*.md" or "drafts/**"')}
${line('--force', 'for backup and restore: overwrite what exists')}
${line('--debug', 'log everything, also on stderr')}
${line('--version, --help', '')}
`;
}

function line(name: string, summary: string): string {
  return `  ${name.padEnd(26)}${summary}`.trimEnd();
}
