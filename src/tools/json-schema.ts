import * as z from 'zod';
import { isObject } from '../base/json.ts';

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
  return withAlternatives(rest) as z.core.JSONSchema.BaseSchema;
}

/** Strict function calling takes alternatives, but no list of types, which a union of plain types is written as. */
function withAlternatives(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withAlternatives);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === 'type' && Array.isArray(value)
        ? ['anyOf', value.map((type: unknown) => ({ type }))]
        : [key, withAlternatives(value)],
    ),
  );
}

/**
 * The schema of arguments without what the error tells as well to whoever goes beyond it (lengths, least numbers and very great
 * ones, that there are no further arguments). A list of tools is paid for in every conversation, and hardly any call has such
 * a fault.
 */
export function withoutBounds(schema: z.core.JSONSchema.BaseSchema): z.core.JSONSchema.BaseSchema {
  const { minLength: _, maxLength: __, minItems: ___, maxItems: ____, ...kept } = schema;
  if (kept.minimum !== undefined && kept.minimum <= smallMinimum) delete kept.minimum;
  if (kept.maximum !== undefined && kept.maximum >= greatMaximum) delete kept.maximum;
  const { properties, items } = kept;
  // A tool without arguments says so: the protocol recommends it.
  if (kept.additionalProperties === false && !isEmpty(properties)) delete kept.additionalProperties;
  if (isObject(items)) kept.items = withoutBounds(items);
  if (properties !== undefined) {
    kept.properties = Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, isObject(each) ? withoutBounds(each) : each]),
    );
  }
  return kept;
}

const smallMinimum = 100;
const greatMaximum = 1_000;

function isEmpty(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0;
}
