/**
 * Replaces `@modelcontextprotocol/server/_shims` in the bundle. The SDK validates answers to elicitation with a JSON
 * Schema validator, which we never use; this is the smaller of the two that it comes with, instead of 215 KB of
 * the other that every start would load.
 */
export { default as process } from 'node:process';
export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
