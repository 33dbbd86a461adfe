import assert from 'node:assert/strict';

interface Schema {
  properties?: Record<string, Schema>;
  description?: string;
  anyOf?: Schema[];
  items?: Schema;
  additionalProperties?: unknown;
}

interface ListedTool {
  name: string;
  outputSchema?: object | undefined;
}

/** Checks that the tool's output schema names every field of the answer, and that it allows further fields. */
export function checkNamed(tools: readonly ListedTool[], name: string, answer: unknown): void {
  const tool = tools.find((tool) => tool.name === name);
  assert.ok(tool?.outputSchema, `${name} has no output schema`);
  assert.deepEqual(
    findUnnamed(withReferencedFields(tool.outputSchema, tools), answer),
    [],
    `${name} sends fields that its output schema does not name`,
  );
}

/** Adds another tool's fields to a schema whose description ends in `fields of <tool>`. */
function withReferencedFields(schema: Schema, tools: readonly ListedTool[]): Schema {
  const [, name] = /fields of (\w+)$/.exec(schema.description ?? '') ?? [];
  const referenced: Schema | undefined = tools.find((tool) => tool.name === name)?.outputSchema;
  assert.equal(referenced === undefined, name === undefined, `there is no tool ${name}`);
  return referenced === undefined
    ? schema
    : { ...schema, description: `${schema.description} ${referenced.description}` };
}

/** Returns the paths of fields that the schema does not name. A schema that says nothing about a value allows anything. */
function findUnnamed(schema: Schema, value: unknown, path = ''): string[] {
  assert.notEqual(schema.additionalProperties, false, `${path} forbids further fields`);
  if (schema.anyOf !== undefined) {
    const alternatives = schema.anyOf.map((alternative) => findUnnamed(alternative, value, path));
    return alternatives.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((each) => findUnnamed(items, each, `${path}[]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  const { properties, description } = schema;
  const allowsAny = properties === undefined && schema.additionalProperties === true;
  if (properties === undefined && !allowsAny && path !== '') return [];
  const words = new Set(allowsAny ? description?.match(/\w+/g) : []);
  return Object.entries(value).flatMap(([key, inner]) => {
    const property = properties?.[key];
    if (property !== undefined) return findUnnamed(property, inner, `${path}.${key}`);
    // A schema with properties that also allows any others: the caller chooses the names of those.
    const isCallerChosen = properties !== undefined && schema.additionalProperties === true;
    return words.has(key) || isCallerChosen ? [] : [`${path}.${key}`];
  });
}
