/**
 * Replaces `@modelcontextprotocol/server/_shims` in the bundle. The SDK needs a JSON Schema validator for elicitation, which we
 * never use. This selects the smaller of its two validators; by default every start would load the other one, of 215 KB.
 */
export { default as process } from 'node:process';
export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
