/**
 * Assembles src/search/vectors/scan-kernel.wat into the bytes that scan-kernel-bytes.ts carries.
 * Run it after the .wat was edited: `node scripts/assemble-kernel.ts`. A test compares both files.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { assembleWat, withoutRelaxed } from './assemble-wat.ts';

const folder = new URL('../src/search/vectors/', import.meta.url);
const source = readFileSync(new URL('scan-kernel.wat', folder), 'utf8');
writeFileSync(
  new URL('scan-kernel-bytes.ts', folder),
  `/** scan-kernel.wat, assembled by scripts/assemble-kernel.ts. */
export const scanKernelBase64 = ${literal(assembleWat(source))};

/** The same without relaxed SIMD. */
export const plainKernelBase64 = ${literal(assembleWat(withoutRelaxed(source)))};
`,
);

function literal(bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,110}/g) ?? [];
  return `[\n${lines.map((line) => `  '${line}',`).join('\n')}\n].join('')`;
}
