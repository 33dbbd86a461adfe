import type { CommandLine } from '../command-line.ts';
import { getCommand } from './get.ts';
import { listingCommand } from './listings.ts';
import { rememberCommand } from './remember.ts';
import { rmCommand } from './rm.ts';
import { statusCommand } from './status.ts';
import type { OpenTools } from './with-tools.ts';

/** Runs a command that calls tools and shows their answers. */
export function runToolCommand(line: CommandLine, open: OpenTools): Promise<void> {
  switch (line.command) {
    case 'get':
      return getCommand(line, open);
    case 'remember':
      return rememberCommand(line, open);
    case 'rm':
      return rmCommand(line, open);
    case 'status':
      return statusCommand(line, open);
    default:
      return listingCommand(line, open);
  }
}
