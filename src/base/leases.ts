/** The use of a shared resource, which is opened for its first user and closed after the last release. */
export interface Lease<Part> {
  readonly part: Part;
  release(): Promise<void>;
}

/** Returns a function that leases the resource. After the last release or a failed open, the next lease opens it again. */
export function createLeases<Part extends { close(): Promise<void> }>(
  open: () => Promise<Part>,
): () => Promise<Lease<Part>> {
  let current: { readonly opening: Promise<Part>; holders: number } | undefined;
  return async () => {
    current ??= { opening: open(), holders: 0 };
    const lease = current;
    // Counted before the resource has opened, so that another release does not close it.
    lease.holders += 1;
    const part = await lease.opening.catch((error: unknown) => {
      if (current === lease) current = undefined;
      throw error;
    });
    let isHeld = true;
    return {
      part,
      async release() {
        if (!isHeld) return;
        isHeld = false;
        lease.holders -= 1;
        if (lease.holders > 0) return;
        if (current === lease) current = undefined;
        await part.close();
      },
    };
  };
}
