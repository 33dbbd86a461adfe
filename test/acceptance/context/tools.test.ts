import { describe } from 'node:test';
import { toolsBeyondTheSeed } from './beyond.ts';
import { onEachDatabase } from './context-fixture.ts';
import { coreTools } from './core.ts';
import { exactNumbers } from './exact-numbers.ts';
import { hostileInputs } from './hostile.ts';
import { memoryAsItWas } from './past.ts';
import { prompts } from './prompts.ts';

// These suites share a program. Each uses its own threads.
onEachDatabase('context', (server) => {
  describe('core tools of 002', () => coreTools(server));
  describe('beyond the seed', () => toolsBeyondTheSeed(server));
  describe('what clients really send', () => hostileInputs(server));
  describe('as_of: the memory as it was', () => memoryAsItWas(server));
  describe('integers that a double cannot hold', () => exactNumbers(server));
  // Prompts do not depend on the database.
  if (server.backend === 'sqlite') describe('prompts of the memory', () => prompts(server));
});
