import { readFileSync } from 'node:fs';
import { packageFile } from './program-files.ts';

// Read as a file, because importing it as a module would delay the start by milliseconds.
const manifest: { version: string } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));

export const version: string = manifest.version;
