/**
 * Assembles src/search/scan/scan-kernel.wat into the bytes in scan-kernel-bytes.ts.
 * Run `node scripts/assemble-kernel.ts` after editing the .wat file. A test checks that both files match.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import createWabt from 'wabt';

/** Assembles the module. Syntax errors name a line; type errors name a byte offset. */
export async function assembleKernel(source: string): Promise<Uint8Array> {
  const features = { simd: true, threads: true };
  const module = (await createWabt()).parseWat('scan-kernel.wat', source, features);
  try {
    const bytes = new Uint8Array(module.toBinary({}).buffer);
    // Node checks the types here, because the TypeScript declarations of wabt's own check lack shared memory.
    new WebAssembly.Module(bytes);
    return bytes;
  } finally {
    module.destroy();
  }
}

if (process.argv[1] === import.meta.filename) {
  const folder = new URL('../src/search/scan/', import.meta.url);
  const source = readFileSync(new URL('scan-kernel.wat', folder), 'utf8');
  writeFileSync(
    new URL('scan-kernel-bytes.ts', folder),
    `/** scan-kernel.wat, assembled by scripts/assemble-kernel.ts. */
export const scanKernelBase64 = ${toLiteral(await assembleKernel(source))};
`,
  );
}

function toLiteral(bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,110}/g) ?? [];
  return `[\n${lines.map((line) => `  '${line}',`).join('\n')}\n].join('')`;
}
