import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { SourceRequest, WebSources } from '../../../crawl/web-sources.ts';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { createLastingIngestion } from '../actions/lasting-ingestion.ts';
import { splitTags, tagsToStore } from '../inputs/collections.ts';
import { describeOutcome, filingInput, noteInput, pathInput } from '../kb-parts.ts';
import { outcomeOutput } from '../shapes/shapes.ts';
import { type PathRules, submitPath } from '../uploads/local-file.ts';

const { collection, tags, title } = filingInput;

interface KbAddDeps {
  readonly paths: PathRules;
  /** Undefined with a remote engine. */
  readonly sources?: Pick<WebSources, 'add'> | undefined;
  /** The collections of a restricted caller. */
  readonly collections?: readonly string[] | undefined;
}

export function createKbAddTool(
  engine: Pick<Engine, 'submit' | 'documentAlone' | 'job' | 'cancelJob'>,
  { paths, sources, collections: allowed }: KbAddDeps,
): Tool {
  return defineTool({
    name: 'kb_add',
    title: 'Add to the knowledge base',
    description:
      'Adds a text, file, web page or site to the knowledge base. Give one of text, path, url. It is searchable once its job is done: kb_jobs.',
    effect: 'add',
    idempotent: true,
    input: z.object({
      text: noteInput.optional().describe('A note: text or Markdown.'),
      path: pathInput.optional(),
      url: z.string().optional(),
      mode: z.enum(['site', 'sitemap', 'feed']).optional(),
      title,
      collection,
      tags,
    }),
    output: outcomeOutput,
    lasting: createLastingIngestion(engine),
    async run({ text, path, url, mode, title, ...tagArguments }, call) {
      if ([text, path, url].filter((each) => each !== undefined).length !== 1) {
        throw new CarrelError('invalid_arguments', 'Give exactly one of text, path and url.');
      }
      const filing = { title, tags: tagsToStore(tagArguments, allowed) };
      if (url !== undefined) {
        return addAddress(sources, { url, ...filing, ...(mode === undefined ? {} : { [mode]: true }) });
      }
      if (mode !== undefined) throw new CarrelError('invalid_arguments', 'mode is only valid with url.');
      const outcome =
        path === undefined
          ? await engine.submit({ note: text ?? '', ...filing }, call)
          : await submitPath(engine, paths, { path, ...filing }, call);
      return describeOutcome(engine, outcome, filing.tags, call);
    },
  });
}

async function addAddress(sources: KbAddDeps['sources'], request: SourceRequest) {
  if (sources === undefined) {
    throw new CarrelError(
      'invalid_arguments',
      'This server cannot add web pages, because its engine is remote (KB_ENGINE_URL). Run carrel add where the engine runs.',
    );
  }
  const { source_id, job_id, url } = await sources.add(request);
  return { status: 'queued', job_id, filename: url, source_id, ...splitTags(request.tags) };
}

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
