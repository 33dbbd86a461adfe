import { readFileSync } from 'node:fs';

// One level up from dist/, two from src/base/. Read as a file: resolving it as a module costs milliseconds of start-up.
const place = new URL(import.meta.url.endsWith('.ts') ? '../../package.json' : '../package.json', import.meta.url);
const manifest: { version: string } = JSON.parse(readFileSync(place, 'utf8'));

export const version: string = manifest.version;
