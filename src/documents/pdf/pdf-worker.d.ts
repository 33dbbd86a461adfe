/** The parser of pdf.js. The package has no types for it. */
declare module 'pdfjs-dist/legacy/build/pdf.worker.mjs';
