import * as z from 'zod';

/**
 * The output schema of an answer whose fields vary: an open object that lists all possible fields in its description.
 * FastMCP's Python client returns such an answer as a complete dictionary; with declared properties it would drop all
 * others. `<field>?` marks an optional field.
 */
export function freeAnswer(fields: string) {
  return z.looseObject({}).meta({ description: fields, additionalProperties: true });
}

/** An open object with at least these fields; FastMCP turns it into an object with attributes. */
export function named<Field extends string>(...fields: Field[]) {
  return z.looseObject(
    Object.fromEntries(fields.map((field) => [field, z.unknown().optional()])) as Record<
      Field,
      z.ZodOptional<z.ZodUnknown>
    >,
  );
}
