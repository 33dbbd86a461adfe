// Draws a page of a PDF. This file is a separate bundle with pdf.js, which only pages with a PDF load.
import { getDocument, type PDFDocumentProxy, PDFWorker } from 'pdfjs-dist';
import { findPassage } from '../parts/pdf-passage.ts';
import { base } from './base.ts';

/** Max bytes of the PDF file. */
const fileBytesMax = 100_000_000;
/** Max pixels of the page, and of an image on it. */
const pixelsMax = 16_000_000;
/** Timeout for drawing a page. */
const drawTimeoutMs = 20_000;

/** The content security policy forbids scripts whose URL is a string. The worker is the only exception. */
const { trustedTypes } = window as { trustedTypes?: { createPolicy(name: string, rules: object): ScriptPolicy } };
const scriptPolicy = trustedTypes?.createPolicy('pdf-worker', { createScriptURL: workerPath });

interface ScriptPolicy {
  createScriptURL(path: string): string;
}

function workerPath(path: string): string {
  if (!/^\/console\/pdf-worker\.js\?\w+$/.test(path)) throw new Error('unexpected worker path');
  return path;
}

let currentWorker: Worker | undefined;

/** Draws the page that the figure names, marks the passage, and adds buttons for the other pages. Returns false on failure. */
export async function showPdf(figure: HTMLElement): Promise<boolean> {
  const { pdf = '', page = '1', passage = '', worker = '' } = figure.dataset;
  currentWorker?.terminate();
  let port: Worker | undefined;
  const giveUp = (): void => {
    port?.terminate();
    figure.textContent = "This page can't be shown as a picture. Read its text instead.";
  };
  try {
    port = new Worker(scriptPolicy?.createScriptURL(worker) ?? worker, { type: 'module' });
    currentWorker = port;
    const drawn = open(`${base}${pdf}`, port).then(async (opened) => {
      const view = pageView(figure, opened, { passage, giveUp });
      return { parts: view.parts, markedAt: await view.showPage(Number(page)) };
    });
    const { parts, markedAt } = await withTimeout(drawn);
    figure.replaceChildren(...parts);
    if (!figure.isConnected) return true;
    const scroller = figure.closest('.preview-body');
    scroller?.scrollTo({ top: figure.offsetTop + markedAt * figure.clientHeight - scroller.clientHeight / 4 });
    return true;
  } catch {
    giveUp();
    return false;
  }
}

/** Adds a timeout, because a terminated worker never answers. */
async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('took too long')), drawTimeoutMs);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

async function open(address: string, port: Worker): Promise<PDFDocumentProxy> {
  const answer = await fetch(address);
  if (!answer.ok || Number(answer.headers.get('content-length')) > fileBytesMax)
    throw new Error('missing or too large');
  return await getDocument({
    data: await answer.arrayBuffer(),
    // pdf.js declares the type of `port` as `null`, by mistake.
    worker: new PDFWorker({ port: port as unknown as null }),
    cMapUrl: '/console/pdfjs/cmaps/',
    wasmUrl: '/console/pdfjs/wasm/',
    maxImageSize: pixelsMax,
    enableXfa: false,
    stopAtErrors: false,
    verbosity: 0,
  }).promise;
}

interface ViewOptions {
  passage: string;
  giveUp(): void;
}

function pageView(figure: HTMLElement, opened: PDFDocumentProxy, { passage, giveUp }: ViewOptions) {
  const bar = document.createElement('figcaption');
  const title = document.createElement('span');
  const canvas = document.createElement('canvas');
  canvas.setAttribute('role', 'img');
  let current = 1;
  const showPage = async (number: number): Promise<number> => {
    current = Math.min(Math.max(1, number), opened.numPages);
    title.textContent = `Page ${current} of ${opened.numPages}`;
    canvas.setAttribute('aria-label', `Page ${current} as a picture`);
    // pdf.js can't draw two pages on one canvas at the same time.
    before.disabled = after.disabled = true;
    const markedAt = await draw(opened, { current, canvas, passage, width: figure.clientWidth });
    before.disabled = current === 1;
    after.disabled = current === opened.numPages;
    return markedAt;
  };
  const stepBy = async (pages: number, { currentTarget }: Event): Promise<void> => {
    try {
      await withTimeout(showPage(current + pages));
      // A disabled button loses the focus.
      if (document.activeElement === document.body && currentTarget instanceof HTMLElement) currentTarget.focus();
    } catch {
      giveUp();
    }
  };
  const before = pageButton('Previous page', '‹', (event) => stepBy(-1, event));
  const after = pageButton('Next page', '›', (event) => stepBy(1, event));
  bar.append(title, before, after);
  return { parts: [bar, canvas], showPage };
}

function pageButton(label: string, sign: string, onClick: (event: Event) => unknown): HTMLButtonElement {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'button quiet small', textContent: sign, title: label });
  button.setAttribute('aria-label', label);
  button.addEventListener('click', onClick);
  return button;
}

interface Drawing {
  current: number;
  canvas: HTMLCanvasElement;
  passage: string;
  /** In CSS pixels. */
  width: number;
}

/** Draws the page and marks the passage. Returns where the passage starts: 0 is the top of the page, 1 the bottom. */
async function draw(opened: PDFDocumentProxy, { current, canvas, passage, width }: Drawing): Promise<number> {
  const page = await opened.getPage(current);
  const natural = page.getViewport({ scale: 1 });
  const scale = Math.min(
    (width * devicePixelRatio) / natural.width,
    Math.sqrt(pixelsMax / (natural.width * natural.height)),
  );
  const viewport = page.getViewport({ scale });
  canvas.width = Math.ceil(viewport.width);
  canvas.height = Math.ceil(viewport.height);
  await page.render({ canvas, viewport }).promise;
  const { items } = await page.getTextContent();
  const runs = items.filter((item) => 'str' in item);
  const texts = runs.map(({ str }) => str);
  const context = canvas.getContext('2d');
  let markedAt = 1;
  for (const { index, from, to } of findPassage(texts, passage)) {
    const run = runs[index];
    if (!run || !context) continue;
    const [a, b, c, d, x, y] = run.transform as Matrix;
    const [scaleX, scaleY] = [Math.hypot(a, b) || 1, Math.hypot(c, d) || 1];
    context.setTransform(...(viewport.transform as Matrix));
    context.transform(a / scaleX, b / scaleX, c / scaleY, d / scaleY, x, y);
    context.globalCompositeOperation = 'multiply';
    context.fillStyle = '#ffe27a';
    context.fillRect(from * run.width, -0.25 * run.height, (to - from) * run.width, 1.25 * run.height);
    markedAt = Math.min(markedAt, Number(viewport.convertToViewportPoint(x, y)[1]) / viewport.height);
  }
  return markedAt === 1 ? 0 : markedAt;
}

type Matrix = [number, number, number, number, number, number];
