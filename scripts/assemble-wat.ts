/**
 * A small assembler for the part of the WebAssembly text format that our kernel uses: one module with one imported
 * memory and functions in flat instruction form. Anything else is refused, so a typing mistake cannot pass.
 * Encodings: WebAssembly Core Specification 3.0, §5 (binary format).
 */
export function assembleWat(source: string): Uint8Array {
  const [module] = parse(tokenise(source));
  if (!Array.isArray(module) || module[0] !== 'module') throw new Error('expected (module …)');
  const fields = module.slice(1).map(asList);
  const memories = fields.filter((field) => field[0] === 'import').map(encodeMemoryImport);
  const functions = fields.filter((field) => field[0] === 'func').map(encodeFunction);
  if (memories.length + functions.length !== fields.length) throw new Error('only imports and functions are known');
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, vector(functions.map((each) => each.type))),
    ...section(2, vector(memories)),
    ...section(3, vector(functions.map((_, index) => unsigned(index)))),
    ...section(7, vector(functions.map((each, index) => [...name(each.exportName), 0x00, ...unsigned(index)]))),
    ...section(10, vector(functions.map((each) => [...unsigned(each.body.length), ...each.body]))),
  ]);
}

/** The same module with the relaxed product written out. It needs the locals $left, $right and $added in each function. */
export function withoutRelaxed(source: string): string {
  const half = (part: 'low' | 'high') => `local.get $left i16x8.extend_${part}_i8x16_s
    local.get $right i16x8.extend_${part}_i8x16_s i32x4.dot_i16x8_s i32x4.add`;
  return source.replaceAll(
    'i32x4.relaxed_dot_i8x16_i7x16_add_s',
    `local.set $added local.set $right local.set $left local.get $added ${half('low')} ${half('high')}`,
  );
}

type Node = string | Node[];

const valueTypes: Record<string, number> = { i32: 0x7f, f32: 0x7d, v128: 0x7b };

/** Instructions without an operand. A pair is the SIMD prefix and the number after it. */
const plain: Record<string, number | [0xfd, number]> = {
  end: 0x0b,
  'i32.eqz': 0x45,
  'i32.lt_u': 0x49,
  'i32.ge_u': 0x4f,
  'i32.ctz': 0x68,
  'i32.add': 0x6a,
  'i32.sub': 0x6b,
  'i32.mul': 0x6c,
  'i32.and': 0x71,
  'i32.shl': 0x74,
  'f32x4.splat': [0xfd, 0x13],
  'f32x4.gt': [0xfd, 0x44],
  'i16x8.extend_low_i8x16_s': [0xfd, 0x87],
  'i16x8.extend_high_i8x16_s': [0xfd, 0x88],
  'i32x4.bitmask': [0xfd, 0xa4],
  'i32x4.add': [0xfd, 0xae],
  'i32x4.dot_i16x8_s': [0xfd, 0xba],
  'f32x4.mul': [0xfd, 0xe6],
  'f32x4.convert_i32x4_s': [0xfd, 0xfa],
  // Relaxed SIMD, part of WebAssembly 3.0.
  'i32x4.relaxed_dot_i8x16_i7x16_add_s': [0xfd, 0x113],
};

/** Loads and stores, with their natural alignment as a power of two. */
const memoryAccess: Record<string, { code: number[]; align: number; hasLane?: true }> = {
  'i32.load': { code: [0x28], align: 2 },
  'f32.load': { code: [0x2a], align: 2 },
  'i32.store': { code: [0x36], align: 2 },
  'f32.store': { code: [0x38], align: 2 },
  'v128.load': { code: [0xfd, 0x00], align: 4 },
  'v128.store': { code: [0xfd, 0x0b], align: 4 },
  'v128.load32_zero': { code: [0xfd, 0x5c], align: 2 },
  'v128.load32_lane': { code: [0xfd, 0x56], align: 2, hasLane: true },
};

const blocks: Record<string, number> = { block: 0x02, loop: 0x03, if: 0x04 };
const branches: Record<string, number> = { br: 0x0c, br_if: 0x0d };
const locals: Record<string, number> = { 'local.get': 0x20, 'local.set': 0x21, 'local.tee': 0x22 };

function encodeMemoryImport(field: Node[]): number[] {
  const memory = asList(field[3]);
  if (memory[0] !== 'memory' || memory[3] !== 'shared') throw new Error('only a shared memory can be imported');
  const limits = [0x03, ...unsigned(Number(memory[1])), ...unsigned(Number(memory[2]))];
  return [...name(asText(field[1])), ...name(asText(field[2])), 0x02, ...limits];
}

function encodeFunction(field: Node[]): { exportName: string; type: number[]; body: number[] } {
  const declarations = field.slice(1).filter((each) => Array.isArray(each));
  const named = (kind: string) => declarations.filter((each) => each[0] === kind);
  const exported = named('export')[0];
  if (!exported) throw new Error('a function must be exported');
  const parameters = named('param').map(variable);
  const variables = named('local').map(variable);
  const results = named('result').map((each) => valueType(asText(each[1])));
  const names = new Map([...parameters, ...variables].map((each, index) => [each.name, index]));
  const body = encodeBody(
    field.slice(1).filter((each) => typeof each === 'string'),
    names,
  );
  return {
    exportName: asText(exported[1]),
    type: [0x60, ...vector(parameters.map((each) => [each.type])), ...vector(results.map((each) => [each]))],
    body: [...vector(variables.map((each) => [1, each.type])), ...body, 0x0b],
  };
}

function encodeBody(words: string[], names: Map<string, number>): number[] {
  const out: number[] = [];
  const labels: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const operand = () => words[++index] ?? '';
    const simple = plain[word];
    const access = memoryAccess[word];
    if (blocks[word] !== undefined) {
      labels.push(operand());
      out.push(blocks[word], 0x40);
    } else if (branches[word] !== undefined) {
      out.push(branches[word], ...unsigned(labels.length - 1 - known(labels.lastIndexOf(operand()), word)));
    } else if (locals[word] !== undefined) {
      out.push(locals[word], ...unsigned(known(names.get(operand()) ?? -1, word)));
    } else if (access) {
      const offset = words[index + 1]?.startsWith('offset=') ? Number(operand().slice('offset='.length)) : 0;
      out.push(...access.code, access.align, ...unsigned(offset), ...(access.hasLane ? [Number(operand())] : []));
    } else if (word === 'i32.const') out.push(0x41, ...signed(Number(operand())));
    else if (word === 'i32x4.extract_lane') out.push(0xfd, 0x1b, Number(operand()));
    else if (word === 'i8x16.shuffle') out.push(0xfd, 0x0d, ...Array.from({ length: 16 }, () => Number(operand())));
    else if (word === 'v128.const')
      out.push(0xfd, 0x0c, ...vectorConstant(operand(), operand, operand, operand, operand));
    else if (typeof simple === 'number') out.push(simple);
    else if (simple) out.push(simple[0], ...unsigned(simple[1]));
    else throw new Error(`unknown instruction ${word}`);
    if (word === 'end') labels.pop();
  }
  if (labels.length > 0) throw new Error('a block is not closed');
  return out;
}

function vectorConstant(shape: string, ...lanes: (() => string)[]): number[] {
  if (shape !== 'i32x4') throw new Error(`unknown shape ${shape}`);
  return [...new Uint8Array(Int32Array.from(lanes, (lane) => Number(lane())).buffer)];
}

function variable(declaration: Node[]): { name: string; type: number } {
  return { name: asText(declaration[1]), type: valueType(asText(declaration[2])) };
}

function valueType(text: string): number {
  return known(valueTypes[text] ?? -1, text);
}

function known(index: number, word: string): number {
  if (index < 0) throw new Error(`unknown name after ${word}`);
  return index;
}

function tokenise(source: string): string[] {
  return source.replace(/;;.*$/gm, '').match(/[()]|"[^"]*"|[^\s()"]+/g) ?? [];
}

function parse(tokens: string[]): Node[] {
  const stack: Node[][] = [[]];
  for (const token of tokens) {
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const list = stack.pop();
      const parent = stack.at(-1);
      if (!list || !parent) throw new Error('unbalanced parentheses');
      parent.push(list);
    } else stack.at(-1)?.push(token.startsWith('"') ? token.slice(1, -1) : token);
  }
  if (stack.length !== 1) throw new Error('unbalanced parentheses');
  return stack[0] ?? [];
}

function asList(node: Node | undefined): Node[] {
  if (!Array.isArray(node)) throw new Error('expected a list');
  return node;
}

function asText(node: Node | undefined): string {
  if (typeof node !== 'string') throw new Error('expected a word');
  return node;
}

function section(id: number, content: number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function vector(items: number[][]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function name(text: string): number[] {
  const bytes = [...Buffer.from(text)];
  return [...unsigned(bytes.length), ...bytes];
}

/** LEB128, unsigned. */
function unsigned(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    out.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return out;
}

/** LEB128, signed. */
function signed(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const last = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
    out.push(last ? low : low | 0x80);
    if (last) return out;
  }
}
