import { createRequire } from 'node:module';

// One level up from dist/, two from src/base/.
const require = createRequire(import.meta.url);
const manifest: { version: string } = require(
  import.meta.url.endsWith('.ts') ? '../../package.json' : '../package.json',
);

export const version: string = manifest.version;
