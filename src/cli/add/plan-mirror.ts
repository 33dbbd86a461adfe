/** A document that was made from a file of the folder. */
export interface MirroredDocument {
  readonly id: number;
  readonly path: string;
  /** Null if the engine does not report it. */
  readonly hash: string | null;
}

export interface MirrorPlan {
  /** Documents whose content is now under another path, first of all. */
  readonly moves: readonly Move[];
  /** Gone: to be removed before anything is added. */
  readonly removals: readonly MirroredDocument[];
  readonly additions: readonly Addition[];
  /** Files with the same content as a file that has the document. */
  readonly twins: readonly { readonly path: string; readonly hash: string }[];
}

export interface Move {
  readonly document: MirroredDocument;
  readonly path: string;
  readonly hash: string;
}

export interface Addition {
  readonly path: string;
  readonly hash: string;
  /** Replaced once the file is in: a changed file is never missing. */
  readonly former: readonly MirroredDocument[];
}

/**
 * What brings the documents in step with the files. The engine stores each content once, so of several files with the same
 * content one has the document, and another takes over when that one goes.
 */
export function planMirror(
  files: ReadonlyMap<string, string>,
  documents: readonly MirroredDocument[],
  isUnknown: (path: string) => boolean,
): MirrorPlan {
  const kept = new Set<string>();
  const keepers = new Set<string>();
  const stale: MirroredDocument[] = [];
  for (const document of documents) {
    const { path, hash } = document;
    if (isUnknown(path)) {
      if (hash !== null) kept.add(hash);
    } else if (hash !== null && files.get(path) === hash && !kept.has(hash)) {
      kept.add(hash);
      keepers.add(path);
    } else stale.push(document);
  }
  const additions = new Map<string, { path: string; hash: string; former: MirroredDocument[] }>();
  const twins: { path: string; hash: string }[] = [];
  for (const [path, hash] of files) {
    if (kept.has(hash) || additions.has(hash)) {
      if (!keepers.has(path)) twins.push({ path, hash });
    } else additions.set(hash, { path, hash, former: [] });
  }
  const moves: Move[] = [];
  const unmoved = stale.filter((document) => {
    const addition = document.hash === null ? undefined : additions.get(document.hash);
    if (addition === undefined) return true;
    const { path, hash } = addition;
    moves.push({ document, path, hash });
    additions.delete(hash);
    return false;
  });
  const byPath = new Map([...additions.values()].map((addition) => [addition.path, addition]));
  const removals: MirroredDocument[] = [];
  for (const document of unmoved) {
    const addition = byPath.get(document.path);
    if (addition === undefined) removals.push(document);
    else addition.former.push(document);
  }
  return { moves, removals, additions: [...additions.values()], twins };
}
