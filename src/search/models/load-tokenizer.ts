import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';

/** Max characters that are tokenised: models read only 512 tokens. */
export const tokenisedUnitsMax = 8_000;

/** Reads tokenizer.json and tokenizer_config.json of the model. */
export async function loadTokenizer(modelFolder: string): Promise<Tokenizer> {
  const readJson = async (name: string) => JSON.parse(await readFile(join(modelFolder, name), 'utf8'));
  return new Tokenizer(await readJson('tokenizer.json'), await readJson('tokenizer_config.json'));
}
