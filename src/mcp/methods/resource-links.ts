import { envelopeBytes } from '../../answers/answer-limit.ts';
import { isObject } from '../../base/json.ts';
import { wireBytes } from '../../base/wire-bytes.ts';
import type { Tool } from '../../tools/tool.ts';

interface ResourceLink {
  type: 'resource_link';
  uri: string;
  name: string;
  title: string;
  mimeType: string;
}

/** Returns links to the resources in a tool's results: one per resource, best first. */
export type LinksTo = (tool: Tool, data: object) => ResourceLink[];

const titleCharsMax = 100;

/** Creates the links for one call's answer, as many as fit beside the answer. */
export function createLinksTo(
  mimeTypeOf: (uri: string) => string | undefined,
  answerBytesMax: number,
  args: unknown,
): LinksTo {
  return ({ resultFields }, data) => {
    if (resultFields === undefined || hasArgument(args, resultFields.unless)) return [];
    const { [resultFields.list]: list } = data as Record<string, unknown>;
    const links = new Map<string, ResourceLink>();
    const bytesMax = answerBytesMax - envelopeBytes;
    let remainingBytes = bytesMax - wireBytes(data, 2, bytesMax);
    for (const item of Array.isArray(list) ? list : []) {
      const { uri: itemUri, [resultFields.title]: title, ...fields } = isObject(item) ? item : {};
      const uri = itemUri ?? (resultFields.id && `${resultFields.id.prefix}${fields[resultFields.id.field]}`);
      if (typeof uri !== 'string' || links.has(uri)) continue;
      const mimeType = mimeTypeOf(uri);
      if (mimeType === undefined) continue;
      const name = uri.slice(uri.lastIndexOf('/') + 1);
      const link: ResourceLink = { type: 'resource_link', uri, name, title: titleOf(title) || name, mimeType };
      remainingBytes -= wireBytes(link, 1) + 1;
      if (remainingBytes < 0) break;
      links.set(uri, link);
    }
    return [...links.values()];
  };
}

function hasArgument(args: unknown, name: string | undefined): boolean {
  return name !== undefined && isObject(args) && args[name] !== undefined && args[name] !== null;
}

/** Returns the first line, truncated. */
function titleOf(text: unknown): string {
  const [line = ''] = typeof text === 'string' ? text.trimStart().split('\n', 1) : [];
  // Counts characters, so that surrogate pairs are not split.
  const characters = Array.from(line.trimEnd().slice(0, 2 * titleCharsMax + 1));
  return characters.length > titleCharsMax
    ? `${characters.slice(0, titleCharsMax - 1).join('')}…`
    : characters.join('');
}
