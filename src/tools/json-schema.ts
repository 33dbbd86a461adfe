import * as z from 'zod';

/**
 * A schema as `tools/list` shows it. Left out is what says nothing and costs every client tokens: the dialect, which is
 * the protocol's default, the bounds of safe integers, and that a result has no further fields, which clients need not
 * check.
 */
export function toJsonSchema(schema: z.ZodType, side: 'input' | 'output'): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: side,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      // Keys are strings and values are anything, unless it is said otherwise.
      delete jsonSchema.propertyNames;
      if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
      if (isEmpty(jsonSchema.properties) && jsonSchema.type === 'object') delete jsonSchema.properties;
      if (side === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return rest;
}

function isEmpty(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0;
}
