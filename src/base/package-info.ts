import { readFileSync } from 'node:fs';
import { packageFile } from './program-files.ts';

// Read as a file: resolving it as a module costs milliseconds of start-up.
const manifest: { version: string } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));

export const version: string = manifest.version;
