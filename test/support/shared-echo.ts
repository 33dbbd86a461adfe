import { after } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from './child-program.ts';

const programs = new Map<string, Promise<ListeningProgram>>();
after(async () => {
  for (const program of programs.values()) await (await program).stop();
});

/** Returns the echo server that offers these revisions over HTTP. All tests of a file share it. */
export function sharedEcho(revisions: 'every' | 'fess' | 'cody'): Promise<ListeningProgram> {
  const program = programs.get(revisions) ?? startListening(echoProgram, ['--revisions', revisions]);
  programs.set(revisions, program);
  return program;
}
