import { createHash } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import type { Chunker } from '../../search/chunking/chunker.ts';
import type { DocumentStore } from '../../storage/documents/document-stores.ts';
import { documentNotFound, noteFilename, readNote, titleOfNote } from '../contract/validate-input.ts';
import type { EngineCall, EngineDocument } from '../engine.ts';
import { textOfNote } from './ingest.ts';
import { renderDocument } from './render.ts';

export interface UpdateNoteDeps {
  readonly documents: Pick<DocumentStore, 'get' | 'note' | 'editNote'>;
  readonly chunker: Chunker;
  /** Called after an edit: the new chunks have no vectors yet. */
  onEdited(): void;
}

export async function updateNote(
  id: number,
  input: string,
  options: EngineCall = {},
  { documents, chunker, onEdited }: UpdateNoteDeps,
): Promise<EngineDocument> {
  const text = readNote(input);
  // Checked before chunking, and again in the transaction.
  if ((await documents.get({ id }, options)) === undefined) throw documentNotFound(id);
  if ((await documents.note({ id }, options)) === undefined) throw notANote(id);
  const derivedTitle = titleOfNote(text);
  const chunks = await chunker.chunk(textOfNote(text), options.signal);
  const bytes = Buffer.from(text);
  const contentHash = createHash('sha256').update(bytes).digest('hex');
  const derived = { derivedTitle, derivedFilename: noteFilename(derivedTitle) };
  const edited = await documents.editNote({
    id,
    text,
    contentHash,
    bytes: bytes.length,
    ...derived,
    chunks,
    anyTags: options.scopedTo,
  });
  switch (edited.outcome) {
    case 'edited':
      onEdited();
      return renderDocument(edited.document);
    case 'not_found':
      throw documentNotFound(id);
    case 'not_a_note':
      throw notANote(id);
    case 'duplicate':
      throw new CarrelError('duplicate', `Document ${edited.id} already has exactly this text.`, {
        data: { document_id: edited.id, title: edited.title },
      });
  }
}

function notANote(id: number): CarrelError {
  return new CarrelError('not_a_note', `Document ${id} is a file. Only the text of notes can be replaced.`, {
    data: { document_id: id },
  });
}
