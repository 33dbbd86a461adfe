/**
 * Replaces `@modelcontextprotocol/server/_shims` in the bundle, to select the smaller of the SDK's two JSON Schema validators. By
 * default, every start would load the other one (215 KB). The SDK needs it only for its own elicitation, which Carrel does not use.
 */
export { default as process } from 'node:process';
export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
