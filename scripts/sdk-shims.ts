/**
 * Stands in for `@modelcontextprotocol/server/_shims` in the bundle. The SDK checks answers to elicitation with a JSON
 * Schema validator, which we never ask for; this is the small one of the two that it comes with, in place of 215 KB of
 * the other that every start would load.
 */
export { default as process } from 'node:process';
export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
