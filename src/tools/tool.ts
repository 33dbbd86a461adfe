import type * as z from 'zod';
import type { ErrorCode } from '../base/errors.ts';
import type { Call } from './call.ts';
import type { Questions } from './question.ts';

/**
 * What a tool does to stored data: decides its annotations and whether read-only mode offers it. `add` leaves existing
 * data as it is; whatever overwrites or removes something is a `change`, and destructive in MCP's terms.
 */
export type Effect = 'read' | 'add' | 'change';

interface ToolFacts {
  /** As the model sees it: at most 64 characters. */
  name: string;
  title: string;
  description: string;
  effect: Effect;
  /** Whether a second call with the same arguments changes nothing further. Reading always is. */
  idempotent?: boolean;
  /** Whether it talks to systems beyond this one (the web, an upstream). */
  openWorld?: boolean;
  /** Answers at once from memory, so it never waits behind slow calls or becomes a job; asking for their jobs must work. */
  takesNoSlot?: boolean;
  /** The toolset's quota that a call counts against. */
  quota?: string;
  /**
   * The field whose list is the answer's text if there is nothing beside it, for a tool whose original answers with a list.
   * Structured content must be an object.
   */
  listed?: string;
  /**
   * Where a search's answer has what it found: the list, and the field of its items that tells what one is about. Clients may
   * get links to items with a `uri`, else with an id that makes one behind a prefix. `unless`: an argument with which it finds
   * what may be gone.
   */
  found?: { list: string; title: string; id?: { field: string; prefix: string }; unless?: string };
  /**
   * A client that takes tasks gets one for every call, instead of only for those that turn out slow. `required`: other
   * clients are refused. The task begins at once, or when the user has answered the questions.
   */
  task?: { begins: 'at once' | 'after questions'; required?: boolean };
  /** Work that goes on after the answer and survives a restart, for clients that take tasks. */
  lasting?: LastingWork;
  /** The code under which this tool reports arguments that do not fit, where its specification names one. */
  argumentError?: ErrorCode;
}

/** Something that a call sets going and that then goes on by itself, under a name that means the same after a restart. */
export interface LastingWork {
  /** Undefined if the answer is all there is. */
  nameOf(answer: object): string | undefined;
  /** How it stands; with the whole answer when it is over. `first` is what the call answered, if this process knows. */
  check(name: string, call: Pick<Call, 'signal'>, first?: object): Promise<{ message: string } | { answer: object }>;
  stop(name: string): Promise<void>;
}

/** One tool, as the rest of the program sees it. `run` gets only what `input` accepted. */
export interface Tool extends ToolFacts {
  input: z.ZodObject;
  output: z.ZodObject;
  /** What the user must be asked first, where the client can ask. `run` then finds them and the answers in its call. */
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
 * A tool is data with a `run` that returns plain data. It does not know its transport, does not render, and catches
 * nothing: the funnel in `mcp/call-tool` does that for all tools.
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
