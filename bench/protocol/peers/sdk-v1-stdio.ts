import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createSdkServer } from './sdk-v1-server.ts';

await createSdkServer().connect(new StdioServerTransport());
