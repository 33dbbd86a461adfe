import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { CarrelError } from '../../base/errors.ts';

/** OCR: Tesseract in WebAssembly, with language data from installed packages. */
export interface Recogniser {
  /** Reads a PNG, JPEG, WebP, TIFF, BMP or PNM file. Undefined if it can't be decoded. */
  recognise(picture: Uint8Array): RecognisedText | undefined;
}

export interface RecognisedText {
  text: string;
  /** Tesseract's confidence in the words, 0 to 100. */
  confidence: number;
}

/** The parts of tesseract.js-core that we use. The package has no types. */
interface TesseractCore {
  FS: { mkdir(path: string): void; writeFile(path: string, data: Uint8Array): void };
  TessBaseAPI: new () => TesseractApi;
}

interface TesseractApi {
  Init(folder: string, languages: string, engine: number): number;
  /** Decodes the file at /input. Returns 0 on success. */
  SetImageFile(orientation: number, angle: number): number;
  Recognize(monitor: null): number;
  GetUTF8Text(): string;
  MeanTextConf(): number;
  Clear(): void;
}

const neuralEngine = 1;
/** Orientation of images that need no rotation. */
const upright = 1;

const loaded = new Map<string, Promise<Recogniser>>();

/** Loads OCR on first use, once for each list of languages. */
export function loadRecogniser(languages: readonly string[]): Promise<Recogniser> {
  const names = languages.join('+');
  const recogniser = loaded.get(names) ?? load(languages);
  loaded.set(names, recogniser);
  return recogniser;
}

async function load(languages: readonly string[]): Promise<Recogniser> {
  // Languages become names of packages and files, so they are checked.
  if (languages.some((language) => !/^[a-z]{3}(?:_[a-z]{3,10})?$/.test(language))) {
    const message = 'KB_OCR_LANGUAGES has an invalid language code. Use codes such as eng, deu or chi_sim.';
    throw new CarrelError('no_text_in_document', message);
  }
  const require = createRequire(import.meta.url);
  const core = await startCore(require);
  core.FS.mkdir('/languages');
  for (const language of languages)
    core.FS.writeFile(`/languages/${language}.traineddata`, await dataOf(language, require));
  const api = new core.TessBaseAPI();
  if (api.Init('/languages', languages.join('+'), neuralEngine) !== 0) throw notInstalled(languages);
  return {
    recognise(picture) {
      core.FS.writeFile('/input', picture);
      if (api.SetImageFile(upright, 0) !== 0) return undefined;
      api.Recognize(null);
      const result = { text: api.GetUTF8Text(), confidence: api.MeanTextConf() };
      api.Clear();
      return result;
    },
  };
}

/** Starts the fastest build that this machine can run. */
async function startCore(require: NodeJS.Require): Promise<TesseractCore> {
  // The names are computed, so that the bundler does not try to include these optional packages.
  const builds = ['relaxedsimd-lstm', 'simd-lstm', 'lstm'].map(
    (build) => `tesseract.js-core/tesseract-core-${build}.js`,
  );
  let cause: unknown;
  for (const build of builds) {
    try {
      return await require(build)({ print() {}, printErr() {} });
    } catch (error) {
      cause = error;
    }
  }
  throw notInstalled(['eng'], cause);
}

async function dataOf(language: string, require: NodeJS.Require): Promise<Uint8Array> {
  try {
    const folder = dirname(require.resolve(`@tesseract.js-data/${language}/package.json`));
    return await promisify(gunzip)(await readFile(join(folder, '4.0.0_best_int', `${language}.traineddata.gz`)));
  } catch (cause) {
    throw notInstalled([language], cause);
  }
}

function notInstalled(languages: readonly string[], cause?: unknown): CarrelError {
  const packages = languages.map((language) => `@tesseract.js-data/${language}`).join(' ');
  return new CarrelError(
    'no_text_in_document',
    `This is an image of text, and OCR is not installed. Run "npm install tesseract.js-core ${packages}" next to carrel, or change KB_OCR_LANGUAGES.`,
    { cause },
  );
}
