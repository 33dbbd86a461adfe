import { fitItems } from '../../../answers/answer-limit.ts';
import { wireBytes } from '../../../base/wire-bytes.ts';
import { blocksOf } from '../../../search/chunking/blocks.ts';

/** A section under a heading. Offsets count code points. */
export interface OutlineNode {
  readonly node_id: string;
  readonly level: number;
  readonly title: string;
  readonly char_start: number;
  readonly char_end: number;
  readonly children: OutlineNode[];
}

interface Heading {
  readonly level: number;
  readonly title: string;
  readonly start: number;
}

/** Max headings in an outline. */
const headingsMax = 10_000;

function headingsOf(text: string) {
  const headings: { level: number; title: string; start: number }[] = [];
  for (const block of blocksOf(text)) {
    if (block.kind !== 'heading') continue;
    headings.push({ level: block.level, title: block.title, start: block.start });
    // Reads one more heading than the limit, because it marks the end of the last section.
    if (headings.length > headingsMax) break;
  }
  return headings;
}

/**
 * Builds the outline of a text; its root is the whole text. The id of a section is the path of its headings. Siblings
 * with equal headings are numbered.
 */
export function outlineOf(text: string, depthMax: number): OutlineNode {
  const headings = headingsOf(text);
  const codePointsBefore = codePointCounter(text);
  const positioned = headings
    .slice(0, headingsMax)
    .map(({ level, title, start }) => ({ level, title, start: codePointsBefore(start) }));
  const end = codePointsBefore(headings[headingsMax]?.start ?? text.length);
  const children = nodes(positioned, end, '', 1);
  return { node_id: 'root', level: 0, title: '', char_start: 0, char_end: codePointsBefore(text.length), children };

  function nodes(list: readonly Heading[], end: number, parent: string, depth: number): OutlineNode[] {
    if (depth > depthMax) return [];
    const topLevel = list.reduce((least, { level }) => Math.min(least, level), Number.POSITIVE_INFINITY);
    const sectionStarts = list.flatMap(({ level }, index) => (level === topLevel ? [index] : []));
    // A deeper heading before the first top-level heading gets a node beside it.
    if (sectionStarts[0] !== undefined && sectionStarts[0] > 0) sectionStarts.unshift(0);
    const slugCounts = new Map<string, number>();
    return sectionStarts.flatMap((index, order) => {
      const heading = list[index];
      if (heading === undefined) return [];
      const next = sectionStarts[order + 1] ?? list.length;
      const sectionEnd = list[next]?.start ?? end;
      const slug = slugOf(heading.title);
      const count = (slugCounts.get(slug) ?? 0) + 1;
      slugCounts.set(slug, count);
      const id = `${parent}${slug}${count > 1 ? `-${count}` : ''}`;
      return [
        {
          node_id: id,
          level: heading.level,
          title: heading.title,
          char_start: heading.start,
          char_end: sectionEnd,
          children: nodes(list.slice(index + 1, next), sectionEnd, `${id}/`, depth + 1),
        },
      ];
    });
  }
}

export function findNode(root: OutlineNode, id: string): OutlineNode | undefined {
  if (root.node_id === id) return root;
  for (const child of root.children) {
    const found = findNode(child, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function countNodes(node: OutlineNode): number {
  return node.children.reduce((sum, child) => sum + countNodes(child), 1);
}

function slugOf(title: string): string {
  const slug = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'section' : slug;
}

/** Converts UTF-16 offsets to code points. Offsets must ascend. */
function codePointCounter(text: string): (units: number) => number {
  let at = 0;
  let count = 0;
  return (units) => {
    while (at < units) {
      at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
      count += 1;
    }
    return count;
  };
}

export interface OutlineBounds {
  /** Max heading levels. */
  readonly depth: number;
  /** Max bytes of the answer. */
  readonly bytesMax: number;
}

export interface FittedOutline {
  readonly node_count: number;
  readonly root: OutlineNode;
  readonly truncated?: true;
  readonly hint?: string;
}

/** Returns the outline with as many levels as fit. If even the top level is too long, returns its beginning. */
export function fitOutline(text: string, { depth, bytesMax }: OutlineBounds): FittedOutline {
  const root = outlineOf(text, depth);
  const count = { node_count: countNodes(root) };
  const last = endOf(root);
  const truncation = last < root.char_end ? { truncated: true as const, hint: continueHint(last) } : {};
  if (wireBytes(root, 2, bytesMax) <= bytesMax) return { ...count, root, ...truncation };
  for (let levels = Math.min(depth, depthOf(root)) - 1; levels > 0; levels -= 1) {
    const pruned = prune(root, levels);
    if (wireBytes(pruned, 2, bytesMax) > bytesMax) continue;
    const hint = `The outline is too long for an answer: only ${levels} levels of headings are shown. Use grep_context to find the others.`;
    return { ...count, root: pruned, truncated: true, hint };
  }
  const pruned = prune(root, 1);
  const children = fitItems(pruned.children, bytesMax);
  return {
    ...count,
    root: { ...pruned, children },
    truncated: true,
    hint: continueHint(children.at(-1)?.char_end ?? 0),
  };
}

function continueHint(offset: number): string {
  return `The outline is too long for an answer: it ends at ${offset}; continue with read_context_range(start_char=${offset}).`;
}

/** Returns the end of the last section, or of the text if there are no sections. */
function endOf(root: OutlineNode): number {
  return root.children.at(-1)?.char_end ?? root.char_end;
}

function depthOf(node: OutlineNode): number {
  return node.children.reduce((deepest, child) => Math.max(deepest, 1 + depthOf(child)), 0);
}

function prune(node: OutlineNode, depth: number): OutlineNode {
  return { ...node, children: depth === 0 ? [] : node.children.map((child) => prune(child, depth - 1)) };
}
