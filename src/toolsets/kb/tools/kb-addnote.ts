import * as z from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { tagsToStore } from '../collections.ts';
import { describeOutcome, filingInput, noteInput } from '../kb-parts.ts';
import { createLastingIngestion } from '../lasting-ingestion.ts';
import { outcomeOutput } from '../shapes.ts';

export function createKbAddnoteTool(
  engine: Pick<Engine, 'submit' | 'documentAlone' | 'job' | 'cancelJob'>,
  allowed?: readonly string[],
): Tool {
  return defineTool({
    name: 'kb_addnote',
    title: 'Add a note',
    description:
      'Adds a text that should last to the knowledge base, beside its documents; kb_jobs tells when job_id is done.',
    effect: 'add',
    idempotent: true,
    input: z.object({ text: noteInput, ...filingInput }),
    output: outcomeOutput,
    lasting: createLastingIngestion(engine),
    async run({ text, title, source_path, ...given }, { signal }) {
      const tags = tagsToStore(given, allowed);
      const outcome = await engine.submit({ note: text, title, tags, source_path }, { signal });
      return describeOutcome(engine, outcome, tags, { signal });
    },
  });
}
