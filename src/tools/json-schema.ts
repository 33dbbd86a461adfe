import { z } from 'zod';

/**
 * A schema as `tools/list` shows it. Left out is what says nothing and costs every client tokens: the dialect, which is
 * the protocol's default, and the bounds of safe integers.
 */
export function toJsonSchema(schema: z.ZodType, side: 'input' | 'output'): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: side,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return rest;
}
