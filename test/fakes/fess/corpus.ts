import { createHash } from 'node:crypto';
import type { FakeLabel } from './callers.ts';
import type { FakeDocument } from './fake-document.ts';
import type { FakeWord } from './suggest-index.ts';

export interface CorpusOptions {
  labels?: readonly string[];
  documentsPerLabel?: number;
  /** Base address of the web documents. They can be fetched if it is that of a document site. */
  siteUrl?: string;
}

export interface Corpus {
  documents: FakeDocument[];
  labels: FakeLabel[];
  words: FakeWord[];
}

/**
 * Generates the same documents every time. All contain `test`, and all labels share a vocabulary, so that a search that escapes
 * its label finds something. Indexed texts are nearly empty, short or long. Every fourth document is a file. Every fifth was added
 * through the admin API, which omits `created`.
 */
export function generateCorpus(options: CorpusOptions = {}): Corpus {
  const labels = options.labels ?? ['finance', 'hr', 'policy'];
  const siteUrl = options.siteUrl ?? 'https://intranet.example.com';
  const documents = labels.flatMap((label) =>
    Array.from({ length: options.documentsPerLabel ?? 40 }, (_, index) => generateDocument(label, index, siteUrl)),
  );
  return {
    documents,
    labels: labels.map((value) => ({ label: value.toUpperCase(), value })),
    words: labels.flatMap(generateWords),
  };
}

const subjects = ['report', 'budget', 'invoice', 'payroll', 'travel', 'security', 'meeting', 'contract'];
const sentences = [
  'The figures of the quarter are consolidated here.',
  'Every test is written down before it is run.',
  'Approval follows the four eyes principle.',
  'Räume und Geräte werden über das Portal gebucht.',
  '四半期の報告書は毎月更新されます。',
];

function generateDocument(label: string, index: number, siteUrl: string): FakeDocument {
  const subject = subjects[index % subjects.length] ?? 'report';
  const isFile = index % 4 === 3;
  const isMadeByApi = index % 5 === 4;
  const day = new Date(Date.UTC(2025, 0, 1) + index * 86_400_000).toISOString();
  const content = generateContent(label, subject, index);
  const url = isFile ? `file:///share/${label}/${index}.txt` : `${siteUrl}/${label}/${index}.html`;
  return {
    docId: createHash('md5').update(`${label}/${index}`).digest('hex'),
    url,
    title: `${subject} ${index} of ${label} & more`,
    content,
    digest: content.slice(0, isFile ? 200 : 120),
    labels: [label],
    roles: ['Rguest'],
    mimetype: isFile ? 'text/plain' : 'text/html',
    filetype: isFile ? 'txt' : 'html',
    filename: `${index}.${isFile ? 'txt' : 'html'}`,
    lang: 'en',
    ...(isMadeByApi ? {} : { created: day }),
    ...(index % 7 === 6 ? {} : { lastModified: day }),
    contentLength: content.length,
    indexedBy: isMadeByApi ? 'api' : 'crawler',
    clickCount: index,
    ...(index % 3 === 0 ? { location: { latitude: 52.5 + index / 100, longitude: 13.4 } } : {}),
    ...(isFile
      ? { file: { contentType: 'text/plain', bytes: Buffer.from(`File of ${label}.\n${content}`) } }
      : {
          cachedHtml: `<html><body><h1>${subject}</h1><p>Cached page of ${label}.</p><p>${content}</p></body></html>`,
        }),
  };
}

function generateContent(label: string, subject: string, index: number): string {
  const opening = `A test ${subject} of the ${label} department, number ${index}.`;
  if (index % 3 === 0) return opening;
  const sentence = (at: number) => sentences[at % sentences.length] ?? '';
  const body = Array.from({ length: index % 3 === 1 ? 4 : 200 }, (_, at) => sentence(index + at));
  return `${opening} ${body.join(' ')}`;
}

function generateWords(label: string): FakeWord[] {
  return subjects.flatMap((subject, index) => [
    { text: `${label}${subject}`, labels: [label], fields: ['content'], roles: ['Rguest'], searched: 10 + index },
    { text: `foo ${subject} ${label}`, labels: [label], fields: ['title'], roles: ['Rguest'], searched: 2 },
  ]);
}
