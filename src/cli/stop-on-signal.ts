/** Returns a signal that aborts on the first SIGINT or SIGTERM. The command can then end its work cleanly. */
export function stopOnSignal() {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return {
    signal: controller.signal,
    release() {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}
