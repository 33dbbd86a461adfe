import * as z from 'zod';

/**
 * The output schema of an answer whose fields depend on the call and its outcome: an open object, with the names of all the
 * fields it may have in the description. Clients that make a type of a schema (FastMCP's in Python) give such an answer to
 * their user as a dictionary with everything in it; of an object with properties they keep only those. `<field>?` is not
 * always there.
 */
export function freeAnswer(fields: string) {
  return z.looseObject({}).meta({ description: fields, additionalProperties: true });
}

/** An object with these fields among others, of which clients as those above make an object with attributes. */
export function named<Field extends string>(...fields: Field[]) {
  return z.looseObject(
    Object.fromEntries(fields.map((field) => [field, z.unknown().optional()])) as Record<
      Field,
      z.ZodOptional<z.ZodUnknown>
    >,
  );
}
