import { diskError } from '../base/durable-files.ts';
import { CarrelError } from '../base/errors.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { version } from '../base/package-info.ts';
import { scrubSecrets } from '../base/secret.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { commandHelp, helpText } from './help.ts';
import type { Start } from './role-command.ts';

export async function run(argv: readonly string[], start: Start = {}): Promise<void> {
  const debug = argv.includes('--debug');
  tellUnwritten();
  process.on('uncaughtException', (error) => {
    complain(error, debug);
    process.exit(exitCodes.unexpected);
  });
  try {
    await runCommand(parseCommandLine(argv), start);
  } catch (error) {
    complain(error, debug);
    process.exitCode = exitCode(error);
  }
}

/** A closed pipe (`carrel help | head`) is not an error. A full disk is. */
function tellUnwritten(): void {
  let isUnwritten = false;
  process.stdout.on('error', (error) => {
    const fault = diskError(error);
    isUnwritten ||= fault instanceof CarrelError && fault.code === 'storage_full';
  });
  process.on('exit', (code) => {
    if (!isUnwritten || code !== exitCodes.fine) return;
    const fault = new CarrelError('storage_full', 'cannot write the output: the disk is full.');
    complain(fault, false);
    process.exitCode = exitCode(fault);
  });
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
    case 'jobs':
    case 'list':
    case 'notes':
    case 'search':
    case 'threads':
      return (await import('./ask/listings.ts')).listingCommand(line);
    case 'get':
      return (await import('./ask/get.ts')).getCommand(line);
    case 'init':
      return (await import('./init/init-command.ts')).initCommand(line);
    case 'remember':
      return (await import('./ask/remember.ts')).rememberCommand(line);
    case 'rm':
      return (await import('./ask/rm.ts')).rmCommand(line);
    case 'status':
      return (await import('./ask/status.ts')).statusCommand(line);
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

function helpFor({ command, named, words: [about] }: CommandLine): string {
  if (command === 'help') return about === undefined ? helpText() : commandHelp(about);
  return named ? commandHelp(command) : helpText();
}

/** One readable paragraph: what is wrong and what to do. The stack needs --debug. */
function complain(error: unknown, debug: boolean): void {
  const own = error instanceof CarrelError;
  const message = own ? error.message : `unexpected error: ${error instanceof Error ? error.message : String(error)}`;
  process.stderr.write(`carrel: ${scrubSecrets(message)}\n`);
  if (debug && error instanceof Error) process.stderr.write(`${scrubSecrets(error.stack ?? '')}\n`);
}

function exitCode(error: unknown): number {
  if (!(error instanceof CarrelError)) return exitCodes.unexpected;
  if (error.code === 'invalid_usage') return exitCodes.usage;
  if (error.kind === 'config') return exitCodes.configuration;
  return error.kind === 'upstream' ? exitCodes.unavailable : exitCodes.unexpected;
}
