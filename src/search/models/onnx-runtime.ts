import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isBuilt } from '../../base/program-files.ts';
import { inNativeSection, type NativeSection } from '../../base/workers/native-section.ts';

/** Runs a model in native code, or in WebAssembly if the native code cannot be loaded. */
export interface OnnxRuntime {
  readonly device: OnnxDevice;
  /** Returns the model's first output for a tokenised text, row by row. */
  run(text: TokenisedText): Promise<Float32Array>;
}

export interface TokenisedText {
  readonly tokens: readonly number[];
  /** For each token, which of two texts it belongs to: 0 or 1. Omitted for one text. */
  readonly types?: readonly number[];
}

export type OnnxDevice = 'cpu' | 'wasm';

export interface OnnxRuntimeConfig {
  /** Contains model.onnx and, if its weights are separate, model.onnx.data. */
  readonly modelFolder: string;
  /** By default the fastest that loads. */
  readonly device?: OnnxDevice | undefined;
  /** Cores for one run in native code. Default: 1. */
  readonly cores?: number | undefined;
  /** Marks when the thread is in native code; see native-section.ts. */
  readonly nativeSection?: NativeSection | undefined;
}

/** The API that onnxruntime-node and onnxruntime-web share. */
type Onnx = Pick<typeof import('onnxruntime-node'), 'InferenceSession' | 'Tensor'>;
type Session = Awaited<ReturnType<Onnx['InferenceSession']['create']>>;
type InferenceOptions = import('onnxruntime-node').InferenceSession.SessionOptions;

export async function loadOnnxRuntime(config: OnnxRuntimeConfig): Promise<OnnxRuntime> {
  const inNative = <T>(run: () => Promise<T>): Promise<T> => inNativeSection(config.nativeSection, run);
  const native = config.device === 'wasm' ? undefined : await inNative(() => loadNative(config.device === 'cpu'));
  if (native === undefined) return loadWasm(config);
  const options: InferenceOptions = {
    intraOpNumThreads: config.cores ?? 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // Busy-waiting makes runs twice as slow if another process needs a core.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
    // Without the arena, the C library keeps more memory and runs take a tenth longer.
    enableCpuMemArena: true,
    // Memory patterns are planned per text length and take more memory than they save.
    enableMemPattern: false,
  };
  // Loads from the file, so that weights in model.onnx.data are memory-mapped and threads and processes share one copy.
  const file = join(config.modelFolder, 'model.onnx');
  const session = await inNative(() => native.InferenceSession.create(file, options));
  return { device: 'cpu', run: (text) => inNative(() => outputOf(session, native, text)) };
}

async function loadNative(isRequired: boolean): Promise<Onnx | undefined> {
  // The name is in a variable, so that the bundler does not include this optional native package.
  const name = 'onnxruntime-node';
  try {
    return await import(name);
  } catch (error) {
    // The package is not installed, or was built for another system.
    if (isRequired) throw error;
    return undefined;
  }
}

/** Loads the model in WebAssembly: the same results, about seven times slower. Reads only files and fetches nothing. */
async function loadWasm({ modelFolder }: OnnxRuntimeConfig): Promise<OnnxRuntime> {
  const web = await import('onnxruntime-web/wasm');
  web.env.logLevel = 'error';
  web.env.wasm.numThreads = 1;
  web.env.wasm.proxy = false;
  web.env.wasm.wasmBinary = await readFile(wasmFile());
  const weights = join(modelFolder, weightsName);
  const session = await web.InferenceSession.create(await readFile(join(modelFolder, 'model.onnx')), {
    executionProviders: ['wasm'],
    enableCpuMemArena: false,
    externalData: existsSync(weights) ? [{ path: weightsName, data: await readFile(weights) }] : [],
  });
  return { device: 'wasm', run: (text) => outputOf(session, web, text) };
}

/** File name of the weights, as referenced in model.onnx. */
const weightsName = 'model.onnx.data';

const wasmName = 'ort-wasm-simd-threaded.wasm';

/** Returns the WebAssembly file, which the build puts next to the bundle. */
function wasmFile(): string | URL {
  if (isBuilt) return new URL(`./${wasmName}`, import.meta.url);
  return createRequire(import.meta.url).resolve(`onnxruntime-web/${wasmName}`);
}

async function outputOf(
  session: Pick<Session, 'run' | 'inputNames' | 'outputNames'>,
  { Tensor }: Pick<Onnx, 'Tensor'>,
  { tokens, types }: TokenisedText,
): Promise<Float32Array> {
  const shape = [1, tokens.length];
  const tensor = (values: BigInt64Array) => new Tensor('int64', values, shape);
  const inputs = {
    input_ids: tensor(BigInt64Array.from(tokens, BigInt)),
    attention_mask: tensor(new BigInt64Array(tokens.length).fill(1n)),
    token_type_ids: tensor(types ? BigInt64Array.from(types, BigInt) : new BigInt64Array(tokens.length)),
  };
  // Not every model has all three inputs.
  const accepted = Object.entries(inputs).filter(([name]) => session.inputNames.includes(name));
  const output = await session.run(Object.fromEntries(accepted));
  const values = output[session.outputNames[0] ?? '']?.data;
  if (!(values instanceof Float32Array)) throw new Error('the model has no output of numbers');
  return values;
}
