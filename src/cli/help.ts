import { roles } from '../app/roles.ts';

export function helpText(): string {
  const roleLines = Object.values(roles).map(({ name, summary }) => line(name, summary));
  return `carrel: one door to knowledge for AI agents, over the Model Context Protocol

Usage: carrel [command] [flags]

Servers (without a command: serve)
${roleLines.join('\n')}

For people
${line('doctor [role]', 'checks this machine and says what to do about what is wrong')}
${line('config [role]', 'shows the effective settings and where each came from')}
${line('tools [role]', 'lists the tools and what they cost in tokens')}
${line('add <paths...>', 'adds files and folders to the knowledge base; --watch keeps folders in step')}
${line('backup <file>', 'writes everything that is kept into one file, while servers go on')}
${line('restore <file>', 'puts a backup in the place of what is kept; --force where that is not empty')}
${line('export [file]', 'writes the context entries as JSONL')}
${line('import <file>', 'adds entries: an export, a mcp-context-server database, memory.jsonl, conversations.json')}

Flags
${line('--transport <stdio|http>', 'how clients connect')}
${line('--host <address>', 'where to listen (default 127.0.0.1)')}
${line('--port <number>', 'which port; 0 takes any that is free')}
${line('--toolsets <a,b,c>', 'which toolsets serve offers')}
${line('--read-only', 'offer only tools that change nothing')}
${line('--cody', 'speak 2024-11-05, with the HTTP+SSE pair')}
${line('--config <file>', 'configuration file (default ~/.carrel/config.json)')}
${line('--data-dir <folder>', 'where data lives (default ~/.carrel)')}
${line('--json', 'for people: print JSON')}
${line('--collection, --tag', 'for add: where the documents go')}
${line('--include, --exclude', 'for add: patterns of files, such as "*.md" or "drafts/**"')}
${line('--force', 'for backup and restore: replace what is there')}
${line('--debug', 'log everything, also on stderr')}
${line('--version, --help', '')}
`;
}

function line(name: string, summary: string): string {
  return `  ${name.padEnd(26)}${summary}`.trimEnd();
}
