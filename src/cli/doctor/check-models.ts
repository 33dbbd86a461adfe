import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '../../app/role.ts';
import { CarrelError } from '../../base/errors.ts';
import { maskAddress } from '../../base/secret.ts';
import type { Config } from '../../config/load.ts';
import { createEmbeddingProvider, embeddingConfigOf } from '../../search/models/create-embedding-provider.ts';
import { embeddingSlice } from '../../search/models/embedding-slice.ts';
import { missingRuntimeRemedy } from '../../search/models/native-runtime.ts';
import { bundledRerankerFolder } from '../../search/rerank/bundled-reranker.ts';
import { openReranker, reranks } from '../../search/rerank/open-reranker.ts';
import { rerankingSlice } from '../../search/rerank/reranking-slice.ts';
import type { Check } from './check-machine.ts';

/** Timeout for a model server, which may have to load its model first. */
const serverTimeoutMs = 60_000;

type EmbeddingSettings = Parameters<typeof embeddingConfigOf>[0];

/** Checks the embedding model by embedding a text, as the first semantic search would. */
export async function checkModel(role: Role, config: Config): Promise<Check> {
  if (!role.slices.includes(embeddingSlice)) return { name: 'model', ok: true, found: 'not needed by this role' };
  const settings = config.of(embeddingSlice);
  if (settings.provider === 'none') return { name: 'model', ok: true, found: 'none: keyword search only' };
  const limits = settings.provider === 'local' ? {} : { attemptsMax: 1, timeoutMs: serverTimeoutMs };
  const embeddings = createEmbeddingProvider({ ...embeddingConfigOf(settings), ...limits });
  try {
    const [vector] = await embeddings.embed(['carrel']);
    const found = `${embeddings.name}, ${vector?.length} dimensions, on ${embeddings.device}`;
    const remedy = embeddings.device === 'wasm' ? missingRuntimeRemedy() : undefined;
    if (remedy === undefined) return { name: 'model', ok: true, found };
    return { name: 'model', ok: true, found: `${found}, which is slow: onnxruntime-node is not installed`, remedy };
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    return {
      name: 'model',
      ok: false,
      found: `${embeddings.name}${serverOf(settings)}: ${error.message}`,
      remedy: remedyOf(settings),
    };
  } finally {
    await embeddings.close();
  }
}

function serverOf({ provider, ollamaHost, openaiBase }: EmbeddingSettings): string {
  if (provider === 'local') return '';
  return ` at ${maskAddress(provider === 'ollama' ? ollamaHost : openaiBase)}`;
}

function remedyOf({ provider, model = 'nomic-embed-text', openaiKey }: EmbeddingSettings): string {
  if (provider === 'ollama') return `start Ollama (ollama serve), run ollama pull ${model}, or fix OLLAMA_HOST`;
  if (provider === 'local') return 'reinstall Carrel, or set EMBEDDING_PROVIDER to ollama, openai or none';
  const key = openaiKey === undefined ? 'set OPENAI_API_KEY' : 'check OPENAI_API_KEY';
  return `${key}, OPENAI_API_BASE and EMBEDDING_MODEL, or set EMBEDDING_PROVIDER to local`;
}

/** Checks the reranker by scoring a passage, as the first search would. */
export async function checkReranker(role: Role, config: Config): Promise<Check[]> {
  if (!role.slices.includes(rerankingSlice)) return [];
  const settings = config.of(rerankingSlice);
  if (!reranks(settings)) return [{ name: 'reranker', ok: true, found: 'none: results are not reranked' }];
  const folder = settings.provider === 'local' ? (settings.model ?? bundledRerankerFolder()) : undefined;
  if (folder !== undefined && !existsSync(join(folder, 'model.onnx'))) {
    const remedy =
      settings.model === undefined
        ? 'reinstall Carrel, or set RERANKING_PROVIDER=none'
        : 'set RERANKING_MODEL to a folder with model.onnx, or remove it to use the bundled model';
    return [{ name: 'reranker', ok: false, found: `${folder} has no model.onnx`, remedy }];
  }
  const remedy =
    'check RERANKING_URL, RERANKING_MODEL and RERANKING_API_KEY, or set RERANKING_PROVIDER to local or none';
  try {
    const reranker = openReranker({ ...settings, budgetMs: serverTimeoutMs, threads: 1 });
    try {
      const { state } = await reranker.score('carrel', ['a place to read']);
      const found = `${reranker.provider?.name}, on ${reranker.provider?.device}`;
      if (state.state === 'applied') return [{ name: 'reranker', ok: true, found }];
      return [{ name: 'reranker', ok: false, found: `${reranker.provider?.name}: ${state.reason}`, remedy }];
    } finally {
      await reranker.close();
    }
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    return [{ name: 'reranker', ok: false, found: error.message, remedy }];
  }
}
