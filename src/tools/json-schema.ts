import * as z from 'zod';
import { isObject } from '../base/json.ts';

/**
 * Converts a schema for `tools/list`, without parts that only cost tokens: the default dialect, safe-integer bounds
 * and, in output schemas, `additionalProperties` and nested `required`.
 */
export function toJsonSchema(schema: z.ZodType, direction: 'input' | 'output'): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: direction,
    unrepresentable: 'any',
    override({ jsonSchema, path }) {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      // String keys and any values are the default.
      delete jsonSchema.propertyNames;
      if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
      // Some hosts reject a tool without `properties`, even if it takes no arguments.
      const isToolInput = direction === 'input' && path.length === 0;
      if (isEmpty(jsonSchema.properties) && jsonSchema.type === 'object' && !isToolInput) delete jsonSchema.properties;
      if (direction === 'input') return;
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (path.length > 0) delete jsonSchema.required;
    },
  });
  return withAlternatives(rest) as z.core.JSONSchema.BaseSchema;
}

/** Replaces lists of types with `anyOf`, because strict function calling rejects them. */
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
 * Returns the input schema without bounds that few calls violate: lengths, small minimums, large maximums and
 * `additionalProperties`. They would cost tokens in every conversation; the server checks them anyway.
 */
export function withoutBounds(schema: z.core.JSONSchema.BaseSchema): z.core.JSONSchema.BaseSchema {
  const { minLength: _, maxLength: __, minItems: ___, maxItems: ____, ...rest } = schema;
  if (rest.minimum !== undefined && rest.minimum <= smallMinimum) delete rest.minimum;
  if (rest.maximum !== undefined && rest.maximum >= largeMaximum) delete rest.maximum;
  const { properties, items } = rest;
  // Tools without arguments keep `additionalProperties: false`, as the protocol recommends.
  if (rest.additionalProperties === false && !isEmpty(properties)) delete rest.additionalProperties;
  if (isObject(items)) rest.items = withoutBounds(items);
  if (properties !== undefined) {
    rest.properties = Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, isObject(each) ? withoutBounds(each) : each]),
    );
  }
  return rest;
}

const smallMinimum = 100;
const largeMaximum = 1_000;

function isEmpty(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0;
}
