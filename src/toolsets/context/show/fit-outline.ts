import { fitItems } from '../../../answers/answer-limit.ts';
import { wireBytes } from '../../../base/wire-bytes.ts';
import { countNodes, type OutlineNode, outlineOf } from './outline.ts';

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
  const beyond = last < root.char_end ? { truncated: true as const, hint: readOn(last) } : {};
  if (wireBytes(root, 2, bytesMax) <= bytesMax) return { ...count, root, ...beyond };
  for (let levels = Math.min(depth, depthOf(root)) - 1; levels > 0; levels -= 1) {
    const flat = prune(root, levels);
    if (wireBytes(flat, 2, bytesMax) > bytesMax) continue;
    const hint = `The outline is too long for an answer: only ${levels} levels of headings are shown. Use grep_context to find the others.`;
    return { ...count, root: flat, truncated: true, hint };
  }
  const flat = prune(root, 1);
  const children = fitItems(flat.children, bytesMax);
  return { ...count, root: { ...flat, children }, truncated: true, hint: readOn(children.at(-1)?.char_end ?? 0) };
}

function readOn(offset: number): string {
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
