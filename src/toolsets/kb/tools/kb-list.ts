import * as z from 'zod';
import { fitItems, itemBytesMax } from '../../../answers/answer-limit.ts';
import { wireBytes } from '../../../base/wire-bytes.ts';
import type { DocumentsRequest, Engine, EngineDocument, EngineMaintenance } from '../../../engine/engine.ts';
import { documentSorts } from '../../../storage/documents/read-documents.ts';
import type { Call } from '../../../tools/call.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { collectionInput, splitTags, tagListInput, tagsToMatch } from '../inputs/collections.ts';
import { docTypeInput, queryInput } from '../inputs/document-inputs.ts';
import { checkCollection, type DocumentFilters, noDocuments, topNames } from '../shapes/hints.ts';
import { incompleteFields } from '../shapes/shapes.ts';

/** Max tags and max collections in an answer. */
const namesMax = 200;

/** A list of tags, separated by commas, which tags can't contain. */
const tagInput = z
  .string()
  .transform((list) => list.split(',').filter((tag) => tag.trim() !== ''))
  .pipe(tagListInput);

const listInput = z.object({
  collection: collectionInput.optional(),
  tag: tagInput.optional().describe('Only documents with all of these tags, separated by commas.'),
  type: docTypeInput.optional(),
  query: queryInput.optional().describe('Words of title or path.'),
  limit: z.int().min(1).max(500).default(50),
  offset: z.int().min(0).default(0),
});

type ListEngine = Pick<Engine, 'documents' | 'tags'>;

export function createKbListTool(engine: ListEngine): Tool {
  return defineTool({
    name: 'kb_list',
    title: 'List the knowledge base',
    description:
      'Lists documents, last changed first, and all collections and tags with counts. kb_search searches their text.',
    effect: 'read',
    input: listInput,
    output: looseOutput(
      'documents, total, collections, tags, collections_omitted?, tags_omitted?, truncated?, next_offset?, hint?',
    ),
    run: (input, call) => list(engine, input, call),
  });
}

/** Creates the console's `kb_table`: a sortable kb_list with the types of all documents. */
export function createKbTableTool(engine: ListEngine, maintenance: EngineMaintenance): Tool {
  return defineTool({
    name: 'kb_table',
    title: 'Documents as a table',
    description: 'Lists documents like kb_list, in any order, with the types of all documents.',
    effect: 'read',
    input: listInput.extend({ sort: z.enum(documentSorts).default('changed'), descending: z.boolean().default(true) }),
    output: looseOutput('the fields of kb_list, and types'),
    async run({ sort: by, descending, ...input }, call) {
      const [listed, types] = await Promise.all([
        list(engine, input, call, { by, descending }),
        maintenance.documentTypes({ signal: call.signal }),
      ]);
      return { ...listed, types: types.map(({ type, count }) => ({ name: type, documents: count })) };
    },
  });
}

async function list(
  engine: ListEngine,
  { collection, tag, type, query, limit, offset }: z.output<typeof listInput>,
  call: Call,
  sort?: DocumentsRequest['sort'],
) {
  const { signal } = call;
  const tags = tagsToMatch({ collection, tags: tag });
  const [{ documents, total }, allNames] = await Promise.all([
    engine.documents({ tags, type, query, limit, offset, sort }, { signal }),
    topNames(engine, namesMax, { signal }),
  ]);
  if (total === 0) await checkCollection(engine, tags, { signal });
  const names = { collections: allNames.collections.top, tags: allNames.tags.top };
  const shown = fitItems(documents.map(showRow), itemBytesMax(call) - wireBytes(names, 2));
  const next = offset + shown.length;
  return {
    documents: shown,
    total,
    ...names,
    ...(shown.length < documents.length
      ? { truncated: true, next_offset: next, hint: `The answer is full: continue with kb_list(offset=${next}).` }
      : hintFor({ total, shown: shown.length }, { tags, type, query, offset })),
    ...omittedField('collections_omitted', allNames.collections.total),
    ...omittedField('tags_omitted', allNames.tags.total),
  };
}

/** Explains why a list is empty, and what to do. */
function hintFor(
  { total, shown }: { total: number; shown: number },
  { query, offset, ...filters }: DocumentFilters & { query: string | undefined; offset: number },
): { hint?: string } {
  if (shown > 0) return {};
  if (total > 0) return { hint: `offset ${offset} is past the last of ${total} documents; start again with offset 0.` };
  if (query === undefined) return { hint: noDocuments(filters) };
  return { hint: 'No title or path contains all of these words; kb_search searches the text.' };
}

function showRow(document: EngineDocument) {
  return {
    document_id: document.id,
    title: document.title,
    type: document.doc_type,
    ...splitTags(document.tags),
    source_path: document.source_path,
    chunks: document.chunk_count,
    created_at: document.created_at,
    ...incompleteFields(document),
  };
}

function omittedField(name: string, count: number): Record<string, number> {
  return count > namesMax ? { [name]: count - namesMax } : {};
}
