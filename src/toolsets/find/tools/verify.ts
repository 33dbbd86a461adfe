import * as z from 'zod';
import { shortHash } from '../../../answers/explain.ts';
import { CarrelError } from '../../../base/errors.ts';
import type { CitablePassage, CitableText, CitableTexts } from '../../../tools/citable-texts.ts';
import { boundedText } from '../../../tools/text-input.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { findNearestSentence, findQuote, isQuotable } from '../find-quote.ts';

export function createVerifyTool(texts: readonly CitableTexts[]): Tool {
  const prefixes = texts.flatMap(({ uriPrefixes }) => uriPrefixes);
  return defineTool({
    name: 'verify',
    title: 'Verify a quotation',
    description:
      'Checks whether a quotation is in the text at a URI: carrel://kb/doc/<document_id>, carrel://context/<id>, carrel://notes/<id> or a web page. "…" stands for omitted words.',
    effect: 'read',
    openWorld: true,
    input: z.object({
      uri: boundedText({ required: true, max: 4000, trim: true }),
      quote: boundedText({ required: true, max: 4000, trim: true }),
      hash: z
        .string()
        .trim()
        .toLowerCase()
        .refine((hash) => /^[0-9a-f]{12,64}$/.test(hash), { error: 'must have 12 to 64 hexadecimal digits' })
        .optional()
        .describe('The hash of a search result, to detect changes to the text.'),
    }),
    output: looseOutput('uri, found, changed, hash, where?, nearest?, message'),
    async run({ uri, quote, hash }, call) {
      const source = texts.find(({ uriPrefixes }) => uriPrefixes.some((prefix) => uri.startsWith(prefix)));
      if (source === undefined) throw unknownUri(uri, prefixes);
      if (!isQuotable(quote)) {
        throw new CarrelError('validation_error', 'quote contains no words. Quote the words to look for.');
      }
      const text = await source.read(uri, call);
      if (text === undefined) {
        return {
          uri,
          found: false,
          changed: true,
          hash: null,
          message: 'There is no text at this URI. It may have been deleted.',
        };
      }
      const changed = hash !== undefined && !text.hash.startsWith(hash);
      return { uri, changed, hash: shortHash(text.hash), ...(await lookUp(quote, text, changed, call.signal)) };
    },
  });
}

async function lookUp(quote: string, text: CitableText, changed: boolean, signal: AbortSignal) {
  const { passages } = text;
  const found = await findQuote(quote, passages, signal);
  if (found !== undefined) {
    const where = { ...placeOf(passages[found.passage]), range: found.range };
    const change = changed ? ' The text has changed elsewhere.' : '';
    return { found: true, where, message: `The quotation is in the text.${change}` };
  }
  const nearest = await findNearestSentence(quote, passages, signal);
  const cut = text.isTruncated ? ' Only part of the text could be read; the quotation may be in the rest.' : '';
  const outcome = changed
    ? 'The text has changed and no longer contains the quotation.'
    : 'The text does not contain the quotation.';
  if (nearest === undefined) return { found: false, message: `${outcome}${cut}` };
  return {
    found: false,
    nearest: { ...placeOf(passages[nearest.passage]), text: nearest.text },
    message: `${outcome} The closest sentence contains ${nearest.shared} of the quotation's ${nearest.of} words.${cut}`,
  };
}

function placeOf(passage: CitablePassage | undefined): Record<string, string | number> {
  return passage?.place ?? {};
}

function unknownUri(uri: string, prefixes: readonly string[]): CarrelError {
  const message = `Unknown kind of URI. Give the uri of a search hit: it starts with ${prefixes.join(' or ')}.`;
  return new CarrelError('validation_error', message, { data: { uri } });
}
