import type { Engine } from '../engine.ts';
import type { Receiving } from './submit.ts';

/** The engine in this process can also receive files in parts. */
export interface LocalEngine extends Engine, Receiving {
  within(collections: readonly string[]): LocalEngine;
}
