/**
 * Assembles src/search/vectors/scan-kernel.wat into the bytes that scan-kernel-bytes.ts carries.
 * Run it after the .wat was edited: `node scripts/assemble-kernel.ts`. A test compares both files.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { assembleWat } from './assemble-wat.ts';

const folder = new URL('../src/search/vectors/', import.meta.url);
const bytes = assembleWat(readFileSync(new URL('scan-kernel.wat', folder), 'utf8'));
const lines =
  Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,110}/g) ?? [];
writeFileSync(
  new URL('scan-kernel-bytes.ts', folder),
  `/** scan-kernel.wat, assembled by scripts/assemble-kernel.ts. */
export const scanKernelBase64 = [
${lines.map((line) => `  '${line}',`).join('\n')}
].join('');
`,
);
