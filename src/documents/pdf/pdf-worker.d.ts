/** The parsing half of pdf.js. Its package has types for the other half only. */
declare module 'pdfjs-dist/legacy/build/pdf.worker.mjs';
