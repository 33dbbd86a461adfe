import type * as z from 'zod';
import type { ErrorCode } from '../base/errors.ts';
import type { Call } from './call.ts';
import type { Questions } from './question.ts';

/**
 * The effect of a tool on stored data. It decides the tool's annotations and whether read-only mode offers it. `add`
 * leaves existing data alone; `change` overwrites or removes, and is destructive in MCP's terms.
 */
export type Effect = 'read' | 'add' | 'change';

interface ToolFacts {
  /** Max 64 characters. */
  name: string;
  title: string;
  description: string;
  effect: Effect;
  /** True if repeating a call changes nothing further. Reads always are. */
  idempotent?: boolean;
  /** True if it contacts other systems (the web, an upstream). */
  openWorld?: boolean;
  /** Never queues behind slow calls or becomes a job, so that job status stays available. Must answer at once, from memory. */
  takesNoSlot?: boolean;
  /** The quota that calls count against. */
  quota?: string;
  /**
   * A field with a list. If the answer has no other field, its text content is only the list, as in the original
   * server. Structured content stays an object.
   */
  listed?: string;
  /**
   * The fields of a search's answer that hold its results and their titles. Clients may get resource links to the
   * results: by their `uri`, else built from an id and a prefix. Calls with the argument `unless` get no links,
   * because their results may be outdated.
   */
  found?: { list: string; title: string; id?: { field: string; prefix: string }; unless?: string };
  /**
   * Clients that support tasks get one for every call, not only slow ones. `required`: other clients are rejected.
   * The task starts at once, or after the user has answered the questions.
   */
  task?: { begins: 'at once' | 'after questions'; required?: boolean };
  /** Work that continues after the answer and survives a restart, for clients that support tasks. */
  lasting?: LastingWork;
  /** Error code for invalid arguments, if the tool's specification defines one. */
  argumentError?: ErrorCode;
}

/** Background work started by a call, with a name that survives restarts. */
export interface LastingWork {
  /** Undefined if the answer is complete. */
  nameOf(answer: object): string | undefined;
  /** The work's progress, or the complete answer once done. `first` is the call's answer, if this process has it. */
  check(name: string, call: Pick<Call, 'signal'>, first?: object): Promise<{ message: string } | { answer: object }>;
  stop(name: string): Promise<void>;
}

/** One tool, as the rest of the program sees it. `run` only gets input that `input` accepted. */
export interface Tool extends ToolFacts {
  input: z.ZodObject;
  output: z.ZodObject;
  /** Questions for the user, if the client can ask. `run` finds the answers in its call. */
  questions?(input: unknown, call: Call): Promise<Questions | undefined>;
  run(input: unknown, call: Call): Promise<object>;
}

export interface ToolLiteral<Input extends z.ZodObject, Output extends z.ZodObject> extends ToolFacts {
  input: Input;
  output: Output;
  questions?(input: z.output<Input>, call: Call): Promise<Questions | undefined>;
  run(input: z.output<Input>, call: Call): Promise<z.input<Output>>;
}

/**
 * A tool is data with a `run` that returns plain data. It knows no transport, renders nothing and catches nothing:
 * `mcp/call-tool` does that for all tools.
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
