/** Lets callers wait until no requests are pending. */
export function createIdleSignal() {
  const waiting = new Set<() => void>();
  return {
    check(): void {
      for (const check of waiting) check();
    },
    wait(isIdle: () => boolean, ms: number): Promise<void> {
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(check);
          resolve();
        };
        const check = (): void => {
          if (isIdle()) done();
        };
        const timer = setTimeout(done, ms);
        waiting.add(check);
        check();
      });
    },
  };
}
