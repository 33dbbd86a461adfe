import { diskError } from '../base/durable-files.ts';
import { CarrelError } from '../base/errors.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { scrubSecrets } from '../base/secret.ts';

/** Runs a command. Reports a failure as one paragraph on stderr and an exit code. */
export async function reportFailures(argv: readonly string[], command: () => Promise<void>): Promise<void> {
  const debug = argv.includes('--debug');
  reportUnwrittenOutput();
  process.on('uncaughtException', (error) => {
    printError(error, debug);
    process.exit(exitCodes.unexpected);
  });
  try {
    await command();
  } catch (error) {
    printError(error, debug);
    process.exitCode = exitCode(error);
  }
}

/** Reports output that could not be written because the disk is full. A closed pipe (`carrel help | head`) is not an error. */
function reportUnwrittenOutput(): void {
  let isUnwritten = false;
  process.stdout.on('error', (error) => {
    const fault = diskError(error);
    isUnwritten ||= fault instanceof CarrelError && fault.code === 'storage_full';
  });
  process.on('exit', (code) => {
    if (!isUnwritten || code !== exitCodes.ok) return;
    const fault = new CarrelError('storage_full', 'cannot write the output: the disk is full.');
    printError(fault, false);
    process.exitCode = exitCode(fault);
  });
}

/** Prints what is wrong and what to do. The stack is printed only with --debug. */
function printError(error: unknown, debug: boolean): void {
  const isExpected = error instanceof CarrelError;
  const message = isExpected
    ? error.message
    : `unexpected error: ${error instanceof Error ? error.message : String(error)}`;
  process.stderr.write(`carrel: ${scrubSecrets(message)}\n`);
  if (debug && error instanceof Error) process.stderr.write(`${scrubSecrets(error.stack ?? '')}\n`);
}

function exitCode(error: unknown): number {
  if (!(error instanceof CarrelError)) return exitCodes.unexpected;
  if (error.code === 'invalid_usage') return exitCodes.usage;
  if (error.kind === 'config') return exitCodes.configuration;
  return error.kind === 'upstream' ? exitCodes.unavailable : exitCodes.unexpected;
}
