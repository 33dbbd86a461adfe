import type * as z from 'zod';
import type { ErrorCode } from '../base/errors.ts';
import type { Call } from './call.ts';
import type { Questions } from './question.ts';

/**
 * What a tool does to stored data. Decides its annotations and whether read-only mode offers it. `add` leaves
 * existing data alone; `change` overwrites or removes, and is destructive in MCP's terms.
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
  /** Answers from memory at once: it never queues behind slow calls or becomes a job, so job status stays available. */
  takesNoSlot?: boolean;
  /** The quota that calls count against. */
  quota?: string;
  /**
   * Field whose list becomes the answer's text if it stands alone, for tools whose original returns a list.
   * Structured content must be an object.
   */
  listed?: string;
  /**
   * Where a search's answer lists its results, and the field with their title. Clients may get resource links to
   * items with a `uri`, else built from an id and prefix. `unless`: an argument that makes results possibly outdated.
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
