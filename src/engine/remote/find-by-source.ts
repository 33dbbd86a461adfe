import { CarrelError } from '../../base/errors.ts';
import type { DocumentPage, DocumentsRequest, Engine, EngineCall, EngineDocument } from '../engine.ts';
import { type EngineClient, queryOf } from './engine-client.ts';
import { gather } from './gather.ts';
import { type Loose, looseList, looseNumber, looseObject } from './loose.ts';
import { readListed, readNext } from './read-answers.ts';

/** How many documents are read one by one if the list does not include their source. */
const lookedAtMax = 500;
const atOnce = 8;

/**
 * Documents with a given source path. Our engine filters by it; another may ignore the parameter and return its whole list,
 * and some include the source only when a single document is read.
 */
export async function findBySource(
  { source_path: wanted, type, tags, limit = 50, offset = 0 }: DocumentsRequest,
  client: EngineClient,
  engine: Pick<Engine, 'documentAlone'>,
  options: EngineCall,
): Promise<DocumentPage> {
  let isTotal = true;
  const { listed, total } = await gather<'listed', Loose>('listed', {}, (page) => {
    const query = queryOf({ source_path: wanted, type, tags: tags?.join(','), ...page });
    const request = { method: 'GET', path: '/documents', query, signal: options.signal };
    return client.ask(request, (value) => {
      const list = looseList(value, ['documents']);
      const told = looseNumber(looseObject(value)['total']);
      isTotal = told !== null;
      return list && { listed: list, total: told ?? list.length, isCut: readNext(value) !== undefined };
    });
  });
  const untold = listed.filter((each) => each['source_path'] === undefined).length;
  if (untold > lookedAtMax) throw tooMany();
  const found: EngineDocument[] = [];
  for (let start = 0; start < listed.length; start += atOnce) {
    const few = listed.slice(start, start + atOnce).flatMap((each) => {
      const document = readListed(each);
      return document === undefined
        ? []
        : [each['source_path'] === undefined ? engine.documentAlone(document.id, options) : document];
    });
    found.push(...(await Promise.all(few)).filter((document) => document.source_path === wanted));
  }
  // If the engine has filtered, its total is right, even beyond the page.
  const isFiltered = found.length === listed.length;
  return { documents: found.slice(offset, offset + limit), total: isFiltered && isTotal ? total : found.length };
}

function tooMany(): CarrelError {
  return new CarrelError(
    'engine_error',
    'This engine does not find documents by their source path, and has too many to look through. Use kb_search and document_id.',
  );
}
