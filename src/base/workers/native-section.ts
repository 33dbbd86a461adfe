/**
 * Ending a thread inside native code that calls back into JavaScript (ONNX Runtime) aborts the whole process. The thread
 * therefore marks such sections in shared memory, and stays out of them once it must end.
 */
export type NativeSection = Int32Array<SharedArrayBuffer>;

const inside = 1;
const barred = 2;

/** Max wait for native code at process exit. It needs at most a second of CPU time, but the machine may be very busy. */
const exitWaitMs = 30_000;

const activeSections = new Set<NativeSection>();

/** Creates the section of one thread. Until it is released, process exit waits for the thread's native code. */
export function createNativeSection(): NativeSection {
  // Process exit ends the threads, so it must wait.
  if (activeSections.size === 0) process.on('exit', waitForAll);
  const section = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  activeSections.add(section);
  return section;
}

/** Releases the section of a thread that has ended. */
export function releaseNativeSection(section: NativeSection): void {
  if (activeSections.delete(section) && activeSections.size === 0) process.off('exit', waitForAll);
}

/** Runs native code. Called on the thread itself; never resolves if the thread must end. */
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

/** Bars the thread from native code, and resolves when the thread is outside it. */
export async function barNativeSection(section: NativeSection): Promise<void> {
  Atomics.or(section, 0, barred);
  await Atomics.waitAsync(section, 0, inside | barred).value;
}

function waitForAll(): void {
  const until = performance.now() + exitWaitMs;
  for (const section of activeSections) Atomics.or(section, 0, barred);
  for (const section of activeSections)
    Atomics.wait(section, 0, inside | barred, Math.max(0, until - performance.now()));
}
