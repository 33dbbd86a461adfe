import * as z from 'zod';
import type { ErrorCode } from '../base/errors.ts';
import type { Call } from './call.ts';
import type { Questions } from './question.ts';

/**
 * The effect of a tool on stored data. It decides the tool's annotations and whether read-only mode offers the tool.
 * `add` leaves existing data alone. `change` overwrites or removes data; MCP calls this destructive.
 */
export type Effect = 'read' | 'add' | 'change';

interface ToolFacts {
  /** Max 64 characters. */
  name: string;
  title: string;
  description: string;
  effect: Effect;
  /** True if repeating a call changes nothing further. Not needed for tools that only read. */
  idempotent?: boolean;
  /** True if the tool contacts other systems, such as the web or Fess. */
  openWorld?: boolean;
  /**
   * True if calls neither wait for other calls nor become jobs, so that job status is always available. Such calls must
   * answer immediately, from memory.
   */
  takesNoSlot?: boolean;
  /** The quota that calls count against. */
  quota?: string;
  /**
   * Name of a field that holds a list. If the answer has no other field, its text content is just the list, as in
   * mcp-context-server. Structured content stays an object.
   */
  listField?: string;
  /**
   * Names of fields in a search answer: the list of results, and each result's title. Clients may get resource links
   * to the results: their `uri` or, with `id`, the prefix followed by that field's value. Calls with the argument
   * `unless` get no links, because their results may be outdated.
   */
  resultFields?: { list: string; title: string; id?: { field: string; prefix: string }; unless?: string };
  /**
   * Clients that support tasks get one for every call, not only for slow calls. The task starts immediately, or after
   * the user has answered the questions. `required`: calls from clients without task support are rejected.
   */
  task?: { begins: 'immediately' | 'after questions'; required?: boolean };
  /** Work that continues after the answer and survives a restart, for clients that support tasks. */
  backgroundWork?: BackgroundWork;
  /** Error code for invalid arguments, if the tool's specification defines one. */
  argumentError?: ErrorCode;
}

/** Background work started by a call, with a name that survives restarts. */
export interface BackgroundWork {
  /** Returns the work's name, or undefined if the answer is already complete. */
  nameOf(answer: object): string | undefined;
  /**
   * Returns a progress message or, once the work is done, the complete answer. `first` is what the call returned, if
   * this process still has it.
   */
  check(name: string, call: Pick<Call, 'signal'>, first?: object): Promise<{ message: string } | { answer: object }>;
  stop(name: string): Promise<void>;
}

/** A tool as the rest of the program sees it. `run` only gets arguments that the schema `input` has accepted. */
export interface Tool extends ToolFacts {
  input: z.ZodObject;
  output: z.ZodObject;
  /** Questions for the user, if the client can ask. `run` finds the answers in its call. */
  questions?(input: unknown, call: Call): Promise<Questions | undefined>;
  run(input: unknown, call: Call): Promise<object>;
}

interface ToolLiteral<Input extends z.ZodObject, Output extends z.ZodObject> extends ToolFacts {
  input: Input;
  output: Output;
  questions?(input: z.output<Input>, call: Call): Promise<Questions | undefined>;
  run(input: z.output<Input>, call: Call): Promise<z.input<Output>>;
}

/**
 * Creates a tool whose functions have typed arguments. `run` returns plain data and lets errors pass:
 * mcp/methods/call-tool.ts handles transport, rendering and errors for all tools.
 */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  literal: ToolLiteral<Input, Output>,
): Tool {
  const { questions, ...rest } = literal;
  return {
    ...rest,
    ...(questions ? { questions: (input, call) => questions(input as z.output<Input>, call) } : {}),
    run: (input, call) => literal.run(input as z.output<Input>, call),
  };
}

/**
 * Creates the output schema of an answer whose fields vary. The description lists them; `<field>?` marks an optional one.
 * They are not declared as properties, because FastMCP's Python client would drop all others.
 */
export function looseOutput(fields: string) {
  return z.looseObject({}).meta({ description: fields, additionalProperties: true });
}

/** Creates a schema that declares optional fields. FastMCP's client returns such an answer as an object with attributes. */
export function named<Field extends string>(...fields: Field[]) {
  return z.looseObject(
    Object.fromEntries(fields.map((field) => [field, z.unknown().optional()])) as Record<
      Field,
      z.ZodOptional<z.ZodUnknown>
    >,
  );
}
