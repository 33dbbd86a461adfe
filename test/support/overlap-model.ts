import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledModelFolder } from '../../src/search/models/bundled-model.ts';

/**
 * Writes a real ONNX cross-encoder that needs no training. Its logit is the number of word pieces that question and passage
 * share, including [SEP], minus 3.
 */
export function writeOverlapModel(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'config.json']) {
    copyFileSync(join(bundledModelFolder(), name), join(folder, name));
  }
  writeFileSync(join(folder, 'model.onnx'), overlapModel());
  return folder;
}

const [float, int64] = [1, 7];

function overlapModel(): Uint8Array {
  const nodes = [
    node('Cast', ['token_type_ids'], 'second', { to: float }),
    node('Sub', ['one', 'second'], 'first'),
    node('Unsqueeze', ['input_ids', 'axis2'], 'rows'),
    node('Unsqueeze', ['input_ids', 'axis1'], 'columns'),
    node('Equal', ['rows', 'columns'], 'same'),
    node('Cast', ['same'], 'shared', { to: float }),
    node('Unsqueeze', ['first', 'axis2'], 'ofFirst'),
    node('Unsqueeze', ['second', 'axis1'], 'ofSecond'),
    node('Mul', ['shared', 'ofFirst'], 'half'),
    node('Mul', ['half', 'ofSecond'], 'pairs'),
    node('ReduceSum', ['pairs', 'axis2'], 'byPiece', { keepdims: 0 }),
    node('ReduceSum', ['byPiece', 'axis1'], 'count', { keepdims: 1 }),
    node('Sub', ['count', 'three'], 'logits'),
  ];
  const graph = [
    ...nodes.map((each) => field(1, each)),
    field(2, 'overlap'),
    ...[floats('one', 1), floats('three', 3), integers('axis1', 1), integers('axis2', 2)].map((each) => field(5, each)),
    ...['input_ids', 'token_type_ids'].map((name) => field(11, value(name, int64))),
    field(12, value('logits', float)),
  ];
  return Buffer.concat([field(1, 8), field(8, field(2, 13)), field(7, Buffer.concat(graph))]);
}

function node(
  type: string,
  inputs: readonly string[],
  output: string,
  attributes: Record<string, number> = {},
): Buffer {
  const attributeFields = Object.entries(attributes).map(([name, number]) =>
    field(5, Buffer.concat([field(1, name), field(3, number), field(20, 2)])),
  );
  return Buffer.concat([...inputs.map((name) => field(1, name)), field(2, output), field(4, type), ...attributeFields]);
}

function floats(name: string, number: number): Buffer {
  return tensor(name, float, Buffer.from(new Float32Array([number]).buffer));
}

function integers(name: string, number: number): Buffer {
  return tensor(name, int64, Buffer.from(new BigInt64Array([BigInt(number)]).buffer));
}

function tensor(name: string, type: number, data: Buffer): Buffer {
  return Buffer.concat([field(1, 1), field(2, type), field(8, name), field(9, data)]);
}

/** Describes a tensor with one row and any number of columns. */
function value(name: string, type: number): Buffer {
  const shape = Buffer.concat([field(1, field(1, 1)), field(1, field(2, 'n'))]);
  return Buffer.concat([field(1, name), field(2, field(1, Buffer.concat([field(1, type), field(2, shape)])))]);
}

/** Encodes a protocol buffer field: a number, or length-delimited content. */
function field(number: number, content: number | string | Buffer): Buffer {
  if (typeof content === 'number') return Buffer.from([...varint(number * 8), ...varint(content)]);
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function varint(number: number): number[] {
  return number < 128 ? [number] : [(number % 128) + 128, ...varint(Math.floor(number / 128))];
}
