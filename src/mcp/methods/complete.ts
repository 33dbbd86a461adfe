import { CarrelError } from '../../base/errors.ts';
import type { Offer } from '../offer.ts';
import type { IncomingCall, Params } from './incoming-call.ts';

/** Max completions in an answer, by the protocol. */
const completionsMax = 100;

/** The target of a completion: a template's variable or a prompt's argument. */
interface Reference {
  type?: unknown;
  uri?: unknown;
  name?: unknown;
}

/** Answers `completion/complete`. */
export async function complete(offer: Offer, params: Params, call: IncomingCall): Promise<object> {
  const { ref, argument } = params as { ref?: Reference; argument?: Params };
  const { name, value } = argument ?? {};
  if (typeof name !== 'string' || typeof value !== 'string') {
    throw new CarrelError('invalid_arguments', 'argument must be an object with name and value, both strings.');
  }
  const values = await completions(offer, ref, name, value, call);
  return { completion: { values: values.slice(0, completionsMax), hasMore: values.length > completionsMax } };
}

async function completions(
  { resources, prompts }: Offer,
  ref: Reference | undefined,
  argument: string,
  typed: string,
  call: IncomingCall,
): Promise<string[]> {
  if (ref?.type === 'ref/resource' && typeof ref.uri === 'string') {
    return resources.complete(ref.uri, argument, typed, call);
  }
  return ref?.type === 'ref/prompt' && typeof ref.name === 'string'
    ? prompts.complete(ref.name, argument, typed, call)
    : [];
}
