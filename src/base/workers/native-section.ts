/**
 * Ending a thread inside native code that calls back into JavaScript (ONNX Runtime) aborts the whole process. The thread
 * therefore marks such sections in shared memory, and stays out of them once it must end.
 */
export type NativeSection = Int32Array<SharedArrayBuffer>;

const inside = 1;
const barred = 2;

/** Max wait for native code at process exit: a second of CPU time on a very busy machine. */
const exitWaitMs = 30_000;

const open = new Set<NativeSection>();

/** For one thread. Until released, process exit waits for its native code. */
export function createNativeSection(): NativeSection {
  // Process exit ends its threads.
  if (open.size === 0) process.on('exit', waitForAll);
  const section = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  open.add(section);
  return section;
}

/** Call when its thread has ended. */
export function releaseNativeSection(section: NativeSection): void {
  if (open.delete(section) && open.size === 0) process.off('exit', waitForAll);
}

/** On the thread: runs native code. Never returns if the thread must end. */
export async function inNativeSection<T>(section: NativeSection | undefined, run: () => Promise<T>): Promise<T> {
  if (section === undefined) return run();
  if (Atomics.compareExchange(section, 0, 0, inside) !== 0) return new Promise(() => {});
  try {
    return await run();
  } finally {
    Atomics.and(section, 0, ~inside);
    Atomics.notify(section, 0);
  }
}

/** Bars the thread from entering, and resolves when it is outside. */
export async function barNativeSection(section: NativeSection): Promise<void> {
  Atomics.or(section, 0, barred);
  await Atomics.waitAsync(section, 0, inside | barred).value;
}

function waitForAll(): void {
  const until = performance.now() + exitWaitMs;
  for (const section of open) Atomics.or(section, 0, barred);
  for (const section of open) Atomics.wait(section, 0, inside | barred, Math.max(0, until - performance.now()));
}
