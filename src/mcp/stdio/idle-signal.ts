/** Lets callers wait until no requests are pending. */
export function createIdleSignal() {
  const waiting = new Set<() => void>();
  return {
    check(): void {
      for (const look of waiting) look();
    },
    wait(isIdle: () => boolean, ms: number): Promise<void> {
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        };
        const look = (): void => {
          if (isIdle()) done();
        };
        const timer = setTimeout(done, ms);
        waiting.add(look);
        look();
      });
    },
  };
}
