import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { createLastingIngestion } from '../actions/lasting-ingestion.ts';
import { tagsToStore } from '../inputs/collections.ts';
import { describeOutcome, filingInput, noteInput } from '../kb-parts.ts';
import { outcomeOutput } from '../shapes/shapes.ts';

export function createKbAddnoteTool(
  engine: Pick<Engine, 'submit' | 'documentAlone' | 'job' | 'cancelJob'>,
  allowed?: readonly string[],
): Tool {
  return defineTool({
    name: 'kb_addnote',
    title: 'Add a note',
    description:
      'Saves a note in the knowledge base, beside its documents. Returns a job; poll kb_jobs. kb_add does the same for files.',
    effect: 'add',
    idempotent: true,
    input: z.object({ text: noteInput, ...filingInput }),
    output: outcomeOutput,
    lasting: createLastingIngestion(engine),
    async run({ text, title, source_path, ...tagArguments }, { signal }) {
      const tags = tagsToStore(tagArguments, allowed);
      const outcome = await engine.submit({ note: text, title, tags, source_path }, { signal });
      return describeOutcome(engine, outcome, tags, { signal });
    },
  });
}
