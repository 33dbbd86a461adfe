import * as z from 'zod';

/**
 * A schema as `tools/list` shows it, without what says nothing and costs every client tokens: the dialect, which is
 * the protocol's default, the bounds of safe integers, and, in results, that there are no further fields and which nested
 * fields are always present.
 */
export function toJsonSchema(schema: z.ZodType, side: 'input' | 'output'): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: side,
    unrepresentable: 'any',
    override({ jsonSchema, path }) {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      // Keys are strings and values are anything, unless stated otherwise.
      delete jsonSchema.propertyNames;
      if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
      // Some hosts refuse a tool without a list of arguments, even where it is empty.
      const isToolInput = side === 'input' && path.length === 0;
      if (isEmpty(jsonSchema.properties) && jsonSchema.type === 'object' && !isToolInput) delete jsonSchema.properties;
      if (side === 'input') return;
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (path.length > 0) delete jsonSchema.required;
    },
  });
  return rest;
}

function isEmpty(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0;
}
