import { createHash } from 'node:crypto';
import { currentCaller } from '../../base/current-caller.ts';
import type { AcceptOutcome, ReadingBounds } from '../../storage/documents/accept-job.ts';
import type { Storage } from '../../storage/storage.ts';
import {
  invalidInput,
  noteFilename,
  readDocType,
  readFilename,
  readNote,
  readReplaces,
  readSourcePath,
  readTags,
  readTitle,
  titleOfNote,
} from '../contract/validate-input.ts';
import type { Engine, EngineCall, EngineMaintenance, SubmissionFields, SubmitOutcome } from '../engine.ts';
import type { EngineSettings } from '../engine-slice.ts';

/** An engine in this process. */
export interface LocalEngine extends Engine {
  /** Submits a file whose fields may arrive after its content, as in a form. Discards the content if `fields` rejects. */
  submitStreamed(
    content: AsyncIterable<Uint8Array>,
    fields: Promise<FileFields>,
    options?: EngineCall,
  ): Promise<SubmitOutcome>;
  maintenance: EngineMaintenance;
  scopedTo(collections: readonly string[]): LocalEngine;
}

export type FileFields = SubmissionFields & { filename: string };

export function createSubmitMethods(
  settings: EngineSettings,
  { storage, onAccepted }: { readonly storage: Storage; onAccepted(): void },
): Pick<LocalEngine, 'submit' | 'submitStreamed'> {
  const { originals, ingestion } = storage;

  return {
    async submit(submission, options = {}) {
      if ('note' in submission) return submitNote(submission.note, submission, options);
      // Reports invalid fields before any bytes are read.
      readFilename(submission.filename);
      readFields(submission);
      return submitStreamed(submission.content, Promise.resolve(submission), options);
    },
    submitStreamed,
  };

  async function submitStreamed(
    content: AsyncIterable<Uint8Array>,
    fields: Promise<FileFields>,
    { scopedTo: anyTags, signal }: EngineCall = {},
  ): Promise<SubmitOutcome> {
    // Prevents an unhandled rejection. The error is thrown below, once the content has been read.
    fields.catch(() => {});
    const staged = await originals.stage(content, { bytesMax: settings.fileBytesMax, signal });
    let outcome: AcceptOutcome | undefined;
    try {
      const input = await fields;
      const filename = readFilename(input.filename);
      const checked = readFields(input);
      if (staged.bytes === 0) throw invalidInput('The file is empty');
      outcome = await ingestion.accept({
        ...checked,
        sourcePath: checked.sourcePath ?? (checked.replaces === undefined ? filename : undefined),
        filename,
        contentType: input.content_type ?? contentTypeOf(filename),
        bounds: boundsOf(settings),
        anyTags,
        submitter: submitterName(),
        content: { staged },
      });
    } finally {
      if (outcome?.outcome !== 'accepted') await originals.discard(staged);
    }
    return toSubmitOutcome(outcome);
  }

  async function submitNote(
    text: string,
    fields: SubmissionFields,
    { scopedTo: anyTags }: EngineCall,
  ): Promise<SubmitOutcome> {
    const checked = readFields(fields);
    const note = readNote(text);
    const bytes = Buffer.from(note);
    const hash = createHash('sha256').update(bytes).digest('hex');
    const outcome = await ingestion.accept({
      ...checked,
      filename: noteFilename(checked.title ?? titleOfNote(note)),
      contentType: 'text/plain; charset=utf-8',
      anyTags,
      submitter: submitterName(),
      content: { note, hash, bytes: bytes.length },
    });
    return toSubmitOutcome(outcome);
  }

  function toSubmitOutcome(outcome: AcceptOutcome): SubmitOutcome {
    switch (outcome.outcome) {
      case 'accepted': {
        onAccepted();
        const { id, status, filename = '' } = outcome.job;
        return { accepted: true, job_id: id, status, filename };
      }
      case 'known_document':
        return { accepted: false, document_id: outcome.id, title: outcome.title };
      case 'known_job':
        return { accepted: false, job_id: outcome.id, title: outcome.title ?? null };
    }
  }
}

/** Returns the limits for extraction. */
export function boundsOf({ textCharsMax, extractCpuMs }: EngineSettings): ReadingBounds {
  return { characters: textCharsMax, cpu_time: extractCpuMs };
}

function readFields(fields: SubmissionFields) {
  return {
    title: readTitle(fields.title),
    docType: readDocType(fields.doc_type),
    tags: readTags(fields.tags ?? []),
    sourcePath: readSourcePath(fields.source_path),
    replaces: readReplaces(fields.replaces),
  };
}

/** Returns the content type for downloads, by file extension. Extraction does not use it. */
function contentTypeOf(filename: string): string {
  const extension = /\.([a-z0-9]{1,8})$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  return contentTypes[extension] ?? 'application/octet-stream';
}

const office = 'application/vnd.openxmlformats-officedocument';
const open = 'application/vnd.oasis.opendocument';

const contentTypes: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  docx: `${office}.wordprocessingml.document`,
  pptx: `${office}.presentationml.presentation`,
  xlsx: `${office}.spreadsheetml.sheet`,
  doc: 'application/msword',
  ppt: 'application/vnd.ms-powerpoint',
  xls: 'application/vnd.ms-excel',
  msg: 'application/vnd.ms-outlook',
  odt: `${open}.text`,
  ods: `${open}.spreadsheet`,
  odp: `${open}.presentation`,
  epub: 'application/epub+zip',
  zip: 'application/zip',
  rtf: 'application/rtf',
  html: 'text/html; charset=utf-8',
  htm: 'text/html; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  eml: 'message/rfc822',
  ipynb: 'application/x-ipynb+json',
};

/** Identifies the caller, so that the queue can alternate between callers. Hashed, because it may be an address or a name. */
function submitterName(): string {
  return createHash('sha256').update(currentCaller()).digest('hex').slice(0, 16);
}
