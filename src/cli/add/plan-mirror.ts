/** A document created from a file in the folder. */
export interface MirroredDocument {
  readonly id: number;
  readonly path: string;
  /** SHA-256 of the content; null if the engine does not report it. */
  readonly hash: string | null;
}

export interface MirrorPlan {
  /** Documents whose content is now at another path. Moves are done first. */
  readonly moves: readonly Move[];
  /** Documents whose file was deleted. They are removed before anything is added. */
  readonly removals: readonly MirroredDocument[];
  readonly additions: readonly Addition[];
  /** Files with the same content as another file that has a document. */
  readonly duplicates: readonly { readonly path: string; readonly hash: string }[];
}

export interface Move {
  readonly document: MirroredDocument;
  readonly path: string;
  readonly hash: string;
}

export interface Addition {
  readonly path: string;
  readonly hash: string;
  /** Documents of earlier versions. They are removed after the new version is stored, so that a changed file is never missing. */
  readonly previous: readonly MirroredDocument[];
}

/**
 * Plans the changes that bring documents in line with files. The engine stores each content once: one of several identical files
 * owns the document. When that file is deleted, another one becomes the owner. `isUnknown` is true for files that can't be read
 * now; their documents stay.
 */
export function planMirror(
  files: ReadonlyMap<string, string>,
  documents: readonly MirroredDocument[],
  isUnknown: (path: string) => boolean,
): MirrorPlan {
  const ownedHashes = new Set<string>();
  const ownerPaths = new Set<string>();
  const stale: MirroredDocument[] = [];
  for (const document of documents) {
    const { path, hash } = document;
    if (isUnknown(path)) {
      if (hash !== null) ownedHashes.add(hash);
    } else if (hash !== null && files.get(path) === hash && !ownedHashes.has(hash)) {
      ownedHashes.add(hash);
      ownerPaths.add(path);
    } else stale.push(document);
  }
  const additions = new Map<string, { path: string; hash: string; previous: MirroredDocument[] }>();
  const duplicates: { path: string; hash: string }[] = [];
  for (const [path, hash] of files) {
    if (ownedHashes.has(hash) || additions.has(hash)) {
      if (!ownerPaths.has(path)) duplicates.push({ path, hash });
    } else additions.set(hash, { path, hash, previous: [] });
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
    else addition.previous.push(document);
  }
  return { moves, removals, additions: [...additions.values()], duplicates };
}
