import { version } from '../base/package-info.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { commandHelp, helpText } from './help.ts';
import { reportFailures } from './report-failures.ts';
import type { Start } from './role-command.ts';

export function run(argv: readonly string[], start: Start = {}): Promise<void> {
  return reportFailures(argv, () => runCommand(parseCommandLine(argv), start));
}

async function runCommand(line: CommandLine, start: Start): Promise<void> {
  if (line.flags['version'] === true) {
    process.stdout.write(`${version}\n`);
    return;
  }
  if (line.flags['help'] === true || line.command === 'help') {
    process.stdout.write(helpFor(line));
    return;
  }
  switch (line.command) {
    case 'add':
      return (await import('./add/add-command.ts')).addCommand(line);
    case 'backup':
      return (await import('./backup.ts')).backupCommand(line);
    case 'bench':
      return (await import('./bench/bench-command.ts')).benchCommand(line);
    case 'completion':
      return (await import('./completion/completion-command.ts')).completionCommand(line);
    case 'config':
      return (await import('./config.ts')).configCommand(line);
    case 'doctor':
      return (await import('./doctor/doctor-command.ts')).doctorCommand(line);
    case 'find':
    case 'get':
    case 'jobs':
    case 'list':
    case 'notes':
    case 'remember':
    case 'rm':
    case 'search':
    case 'status':
    case 'threads': {
      const { openTools } = await import('./tool-commands/open-tools.ts');
      return (await import('./tool-commands/tool-command.ts')).runToolCommand(line, openTools);
    }
    case 'init':
      return (await import('./init/init-command.ts')).initCommand(line);
    case 'export':
      return (await import('./transfer.ts')).exportCommand(line);
    case 'import':
      return (await import('./transfer.ts')).importCommand(line);
    case 'restore':
      return (await import('./backup.ts')).restoreCommand(line);
    case 'sources':
      return (await import('./web/sources-command.ts')).sourcesCommand(line);
    case 'token':
      return (await import('./token/token-command.ts')).tokenCommand(line);
    case 'tools':
      return (await import('./tools.ts')).toolsCommand(line);
    default:
      return (await import('./role-command.ts')).roleCommand(line, start);
  }
}

function helpFor({ command, isNamed, args: [topic] }: CommandLine): string {
  if (command === 'help') return topic === undefined ? helpText() : commandHelp(topic);
  return isNamed ? commandHelp(command) : helpText();
}
