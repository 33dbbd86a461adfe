import { CarrelError } from '../../base/errors.ts';
import { isBlank } from '../../base/text.ts';
import { readFrontMatter } from '../../documents/text/markdown-title.ts';
import type { JobListRequest, JobStatus } from '../../storage/documents/jobs.ts';
import { storable, unstorableReason } from '../../storage/storable.ts';
import { type JobsRequest, jobStatuses, type PageRequest } from '../engine.ts';

/** Normalises callers' input for storage, or rejects it with a reason. */

export const tagsMax = 64;
const tagCharsMax = 200;
const titleCharsMax = 300;
const pathCharsMax = 1_000;
const filenameCharsMax = 255;
const queryWordsMax = 20;
const noteCharsMax = 1_000_000;

/** Trims tags and drops empty ones and duplicates. Keeps their order and case. */
export function readTags(input: readonly string[], name = 'tags'): string[] {
  const tags = [...new Set(input.map((tag) => checked(name, tag).normalize('NFC').trim()))].filter((tag) => tag !== '');
  if (tags.length > tagsMax) throw invalidInput(`${name} must have at most ${tagsMax} different items`);
  // A comma separates tags in forms and query strings.
  if (tags.some((tag) => tag.length > tagCharsMax || /[\p{Cc},]/u.test(tag))) {
    throw invalidInput(
      `${name}: a tag must have at most ${tagCharsMax} characters, none of them a comma or a control character`,
    );
  }
  return tags;
}

/** Returns the last part of a path, so that the result is never a path. */
export function readFilename(input: string): string {
  const name = oneLine(checked('filename', input).split(/[/\\]/).at(-1) ?? '').slice(0, filenameCharsMax);
  if (isBlank(name) || name === '.' || name === '..') throw invalidInput('filename must name a file');
  return name;
}

export function readTitle(input: string | undefined): string | undefined {
  const title = input === undefined ? '' : oneLine(checked('title', input));
  if (title.length > titleCharsMax) throw invalidInput(`title must have at most ${titleCharsMax} characters`);
  return isBlank(title) ? undefined : title;
}

export function readDocType(input: string | undefined): string | undefined {
  const docType = input?.trim().toLowerCase();
  if (docType === undefined || docType === '') return undefined;
  if (/^[a-z0-9][a-z0-9._+-]{0,39}$/.test(docType)) return docType;
  throw invalidInput('doc_type must have 1 to 40 letters, digits or the characters . _ + -, such as pdf or markdown');
}

/** Returns the path unchanged: a file name may contain or end with any white space. */
export function readSourcePath(input: string | undefined): string | undefined {
  const path = input === undefined ? '' : checked('source_path', input);
  if (path.length > pathCharsMax) throw invalidInput(`source_path must have at most ${pathCharsMax} characters`);
  return isBlank(path) ? undefined : path;
}

export function readReplaces(input: number | undefined): number | undefined {
  if (input === undefined || (Number.isSafeInteger(input) && input > 0)) return input;
  throw invalidInput('replaces must be the id of a document');
}

/** Splits a query into its distinct words. Returns undefined if it has none. */
export function readQueryWords(input: string | undefined): string[] | undefined {
  const parts = storable(input ?? '')
    .normalize('NFC')
    .split(/\s+/);
  const words = [...new Set(parts)].filter((word) => word !== '');
  if (words.length > queryWordsMax) throw invalidInput(`query must have at most ${queryWordsMax} words`);
  return words.length === 0 ? undefined : words;
}

export function readNote(input: string): string {
  const text = checked('The text of the note', input);
  if (isBlank(text)) throw invalidInput('The text of the note is empty');
  if (text.length > noteCharsMax) throw invalidInput(`A note must have at most ${noteCharsMax} characters`);
  return text;
}

/** Rejects text with characters that a database cannot store, so that stored text always equals the text sent. */
function checked(name: string, text: string): string {
  const problem = unstorableReason(text);
  if (problem === undefined) return text;
  throw invalidInput(`${name} ${problem}`);
}

/**
 * Returns the title in the front matter, or the first line with letters or digits, without heading and list marks.
 * Shortened to 80 characters.
 */
export function titleOfNote(text: string): string {
  const { title: fieldTitle, body } = readFrontMatter(text);
  const firstLine = body.split('\n', 200).find((each) => /[\p{L}\p{N}]/u.test(each));
  const line = fieldTitle ?? firstLine ?? '';
  const title = oneLine(line.replace(/^\s*(?:#{1,6}|[-*>])\s+/, ''));
  return title.length <= 80 ? title || 'Note' : `${title.slice(0, 79).toWellFormed().trimEnd()}…`;
}

/** Turns a title into a file name, without slashes and other characters that some file systems forbid. */
export function noteFilename(title: string): string {
  const name = title
    .replace(/[\p{Cc}\p{Cs}/\\:*?"<>|]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 80)
    .toWellFormed()
    .trim();
  return `${name || 'note'}.md`;
}

export const limitMax = 1_000;

export function readPage({ limit = 100, offset = 0 }: PageRequest): { limit: number; offset: number } {
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw invalidInput(`limit must be a whole number from 1 to ${limitMax}`);
  }
  if (!Number.isSafeInteger(offset) || offset < 0) throw invalidInput('offset must be a whole number, 0 or more');
  return { limit, offset };
}

/** Converts a request for jobs. Returns undefined if no job of this engine can match. */
export function readJobsRequest({ status, ...page }: JobsRequest): JobListRequest | undefined {
  // Other kb engines use the status `skipped` for duplicates; this one answers 409 and creates no job.
  if (status === 'skipped') return undefined;
  return { ...readPage(page), status: statusOf(status) };
}

function statusOf(input: string | undefined): JobStatus | undefined {
  if (input === undefined || input === '') return undefined;
  const status = jobStatuses.find((each) => each === input);
  if (status === undefined) throw invalidInput(`status must be one of ${jobStatuses.join(', ')}`);
  return status;
}

export function jobNotFound(): CarrelError {
  return new CarrelError('job_not_found', 'No job has this id. List the jobs to see their ids.');
}

export function documentNotFound(id: number): CarrelError {
  return new CarrelError('document_not_found', `No document has the id ${id}.`, { data: { document_id: id } });
}

export function invalidInput(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}

function oneLine(text: string): string {
  return storable(text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}
