/** Types for WebAssembly. TypeScript has them only in its DOM library, which would add browser globals to a server. */
declare namespace WebAssembly {
  type Module = object;
  const Module: new (bytes: Uint8Array) => Module;
  interface Memory {
    readonly buffer: SharedArrayBuffer;
  }
  /** Sizes are in pages of 64 KiB. */
  const Memory: new (limits: { initial: number; maximum: number; shared: true }) => Memory;
  interface Instance {
    readonly exports: Record<string, (...parameters: number[]) => number>;
  }
  const Instance: new (module: Module, imports: Record<string, Record<string, Memory>>) => Instance;
}
