import assert from 'node:assert/strict';

interface Schema {
  properties?: Record<string, Schema>;
  description?: string;
  anyOf?: Schema[];
  items?: Schema;
  additionalProperties?: unknown;
}

interface Listed {
  name: string;
  outputSchema?: object | undefined;
}

/** Checks that the tool's output schema names every field of the answer, and that it allows further fields. */
export function checkNamed(tools: readonly Listed[], name: string, answer: unknown): void {
  const listed = tools.find((tool) => tool.name === name);
  assert.ok(listed?.outputSchema, `${name} has no output schema`);
  assert.deepEqual(
    unnamed(withReferred(listed.outputSchema, tools), answer),
    [],
    `${name} sends fields that its output schema does not name`,
  );
}

/** Adds another tool's fields to a schema whose description ends in `fields of <tool>`. */
function withReferred(schema: Schema, tools: readonly Listed[]): Schema {
  const [, name] = /fields of (\w+)$/.exec(schema.description ?? '') ?? [];
  const referred: Schema | undefined = tools.find((tool) => tool.name === name)?.outputSchema;
  assert.equal(referred === undefined, name === undefined, `there is no tool ${name}`);
  return referred === undefined ? schema : { ...schema, description: `${schema.description} ${referred.description}` };
}

/** Returns the paths of fields that the schema does not name. A schema that says nothing about a value allows anything. */
function unnamed(schema: Schema, value: unknown, path = ''): string[] {
  assert.notEqual(schema.additionalProperties, false, `${path} is closed`);
  if (schema.anyOf !== undefined) {
    const alternatives = schema.anyOf.map((alternative) => unnamed(alternative, value, path));
    return alternatives.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((each) => unnamed(items, each, `${path}[]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  const { properties, description } = schema;
  const isFree = properties === undefined && schema.additionalProperties === true;
  if (properties === undefined && !isFree && path !== '') return [];
  const words = new Set(isFree ? description?.match(/\w+/g) : []);
  return Object.entries(value).flatMap(([key, inner]) => {
    const property = properties?.[key];
    if (property !== undefined) return unnamed(property, inner, `${path}.${key}`);
    // A schema with properties that also allows any others: the caller chooses the names of those.
    const isChosen = properties !== undefined && schema.additionalProperties === true;
    return words.has(key) || isChosen ? [] : [`${path}.${key}`];
  });
}
