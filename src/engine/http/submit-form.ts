import { respondJson } from '../../http/respond.ts';
import type { SubmitOutcome } from '../engine.ts';
import { fault } from '../given.ts';
import type { SubmissionFields } from '../local/submit.ts';
import { readForm, type SubmittedForm } from './read-form.ts';
import type { RouteCall } from './route-call.ts';

/** `POST /jobs`: a file or a note, with its title, tags and so on. */
export async function submitForm(call: RouteCall, fileBytesMax: number): Promise<void> {
  const { request, response, engine, signal } = call;
  const form = await readForm(request, engine, { fileBytesMax, signal });
  const outcome = await submit(form, call);
  if (outcome.accepted) {
    const { job_id, status, filename } = outcome;
    respondJson(response, 202, { job_id, status, filename });
    return;
  }
  const { accepted: _, ...known } = outcome;
  const place = known.document_id === undefined ? `waits as job ${known.job_id}` : `is document ${known.document_id}`;
  respondJson(response, 409, { error: 'duplicate', detail: `The same content ${place} already.`, ...known });
}

async function submit({ file, fields }: SubmittedForm, { engine }: RouteCall): Promise<SubmitOutcome> {
  const note = fields.get('note')?.at(-1);
  if (file !== undefined && note === undefined) {
    return engine.submitReceived(file.received, file.filename, fieldsOf(fields));
  }
  if (file !== undefined) {
    await engine.dropReceived(file.received);
    throw fault('The form must have a file or a note, not both');
  }
  if (note === undefined) throw fault('The form must have the field "file", with a file, or the field "note"');
  // Browsers and other clients send every line break of a field as CRLF (HTML, "constructing the entry list").
  return engine.submit({ note: note.replaceAll('\r\n', '\n'), ...fieldsOf(fields) });
}

function fieldsOf(fields: SubmittedForm['fields']): SubmissionFields {
  const last = (name: string) => fields.get(name)?.at(-1);
  return {
    title: last('title'),
    doc_type: last('doc_type'),
    source_path: last('source_path'),
    // Checked with the others: what is no number is refused there.
    replaces: last('replaces') === undefined ? undefined : Number(last('replaces')),
    tags: (fields.get('tags') ?? []).flatMap(tagsIn),
  };
}

/** Separated by commas, or a JSON array. */
function tagsIn(given: string): string[] {
  if (given.trimStart().startsWith('[')) {
    try {
      const parsed: unknown = JSON.parse(given);
      if (Array.isArray(parsed) && parsed.every((tag) => typeof tag === 'string')) return parsed;
    } catch {
      // Not JSON after all: a tag may start with a bracket.
    }
  }
  return given.split(',');
}
