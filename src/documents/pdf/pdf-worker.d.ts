/** The half of pdf.js that parses. Its package has types for the other half only. */
declare module 'pdfjs-dist/legacy/build/pdf.worker.mjs';
