import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { SourceRequest, WebSources } from '../../../crawl/web-sources.ts';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { splitTags, tagsToStore } from '../inputs/collections.ts';
import { newDocumentInput, noteInput, pathInput } from '../inputs/document-inputs.ts';
import { createIngestionWork, describeOutcome, outcomeFields } from '../shapes/submission.ts';
import { type PathRules, submitPath } from '../uploads/local-file.ts';

interface KbAddDeps {
  readonly paths: PathRules;
  /** Undefined with a remote engine. */
  readonly sources?: Pick<WebSources, 'add'> | undefined;
  /** The collections of a restricted caller. */
  readonly collections?: readonly string[] | undefined;
}

const { source_path: _, ...attributeInput } = newDocumentInput;

export function createKbAddTool(
  engine: Pick<Engine, 'submit' | 'documentWithoutChunks' | 'job' | 'cancelJob'>,
  { paths, sources, collections: allowedCollections }: KbAddDeps,
): Tool {
  return defineTool({
    name: 'kb_add',
    title: 'Add to the knowledge base',
    description:
      'Adds a text, file, web page or site to the knowledge base. Give one of text, path, url. Returns a job; the content is searchable once kb_jobs reports it done.',
    effect: 'add',
    idempotent: true,
    input: z.object({
      text: noteInput.optional().describe('A note: text or Markdown.'),
      path: pathInput.optional(),
      url: z.string().optional(),
      mode: z.enum(['site', 'sitemap', 'feed']).optional(),
      ...attributeInput,
    }),
    output: looseOutput(`${outcomeFields}, source_id?`),
    backgroundWork: createIngestionWork(engine),
    async run({ text, path, url, mode, title, ...tagArguments }, call) {
      if ([text, path, url].filter((argument) => argument !== undefined).length !== 1) {
        throw new CarrelError('invalid_arguments', 'Give exactly one of text, path and url.');
      }
      const attributes = { title, tags: tagsToStore(tagArguments, allowedCollections) };
      if (url !== undefined) {
        return addUrl(sources, { url, ...attributes, ...(mode === undefined ? {} : { [mode]: true }) });
      }
      if (mode !== undefined) throw new CarrelError('invalid_arguments', 'mode is only valid with url.');
      const outcome =
        path === undefined
          ? await engine.submit({ note: text ?? '', ...attributes }, call)
          : await submitPath(engine, paths, { path, ...attributes }, call);
      return describeOutcome(engine, outcome, attributes.tags, call);
    },
  });
}

async function addUrl(sources: KbAddDeps['sources'], request: SourceRequest) {
  if (sources === undefined) {
    throw new CarrelError(
      'invalid_arguments',
      'This server cannot add web pages, because its engine is remote (KB_ENGINE_URL). Run `carrel add` on the machine of the engine.',
    );
  }
  const { source_id, job_id, url } = await sources.add(request);
  return { status: 'queued', job_id, filename: url, source_id, ...splitTags(request.tags) };
}

export function createKbAddnoteTool(
  engine: Pick<Engine, 'submit' | 'documentWithoutChunks' | 'job' | 'cancelJob'>,
  allowedCollections?: readonly string[],
): Tool {
  return defineTool({
    name: 'kb_addnote',
    title: 'Add a note',
    description:
      'Saves a note in the knowledge base. Returns a job; poll kb_jobs. kb_add also adds files and web pages.',
    effect: 'add',
    idempotent: true,
    input: z.object({ text: noteInput, ...newDocumentInput }),
    output: looseOutput(outcomeFields),
    backgroundWork: createIngestionWork(engine),
    async run({ text, title, source_path, ...tagArguments }, { signal }) {
      const tags = tagsToStore(tagArguments, allowedCollections);
      const outcome = await engine.submit({ note: text, title, tags, source_path }, { signal });
      return describeOutcome(engine, outcome, tags, { signal });
    },
  });
}
