import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createSdkServer } from './sdk-v2-server.ts';

if (process.argv[3] === 'modern') serveStdio(() => createSdkServer());
else await createSdkServer().connect(new StdioServerTransport());
