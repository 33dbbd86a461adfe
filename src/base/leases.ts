/** A lease on a shared resource, which opens for the first lease and closes after the last release. */
export interface Lease<Resource> {
  readonly resource: Resource;
  release(): Promise<void>;
}

/** Returns a function that leases the resource. After the last release or a failed open, the next lease opens it again. */
export function createLeases<Resource extends { close(): Promise<void> }>(
  open: () => Promise<Resource>,
): () => Promise<Lease<Resource>> {
  let current: { readonly opening: Promise<Resource>; holders: number } | undefined;
  return async () => {
    current ??= { opening: open(), holders: 0 };
    const shared = current;
    // Counted before the resource has opened, so that another release does not close it.
    shared.holders += 1;
    const resource = await shared.opening.catch((error: unknown) => {
      if (current === shared) current = undefined;
      throw error;
    });
    let isReleased = false;
    return {
      resource,
      async release() {
        if (isReleased) return;
        isReleased = true;
        shared.holders -= 1;
        if (shared.holders > 0) return;
        if (current === shared) current = undefined;
        await resource.close();
      },
    };
  };
}
