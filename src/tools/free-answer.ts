import * as z from 'zod';

/**
 * Creates the output schema of an answer whose fields vary: an open object that lists all possible fields in its
 * description. FastMCP's Python client returns such an answer as a complete dictionary. If the schema declared
 * properties, that client would drop all other fields. `<field>?` marks an optional field.
 */
export function freeAnswer(fields: string) {
  return z.looseObject({}).meta({ description: fields, additionalProperties: true });
}

/**
 * Creates a schema for an open object that declares these fields, all optional. FastMCP's client returns it as an
 * object with attributes.
 */
export function named<Field extends string>(...fields: Field[]) {
  return z.looseObject(
    Object.fromEntries(fields.map((field) => [field, z.unknown().optional()])) as Record<
      Field,
      z.ZodOptional<z.ZodUnknown>
    >,
  );
}
