/** Draws a PDF's page if there is a figure for it inside `root`. Loads pdf.js only then. Returns false if nothing was drawn. */
export async function showPdfPage(root: ParentNode): Promise<boolean> {
  const figure = root.querySelector<HTMLElement>('[data-pdf]');
  if (!figure) return false;
  try {
    const { showPdf } = (await import(figure.dataset['script'] ?? '')) as typeof import('./pdf.ts');
    return await showPdf(figure);
  } catch {
    return false;
  }
}

/** Draws the PDF on a document's page when its section is opened, at the passage that the URL names. */
export function watchPdfPages(): void {
  const details = document.querySelector<HTMLDetailsElement>('details:has([data-pdf])');
  details?.addEventListener('toggle', () => {
    const passage = document.getElementById(location.hash.slice(1));
    const { page } = passage?.dataset ?? {};
    const figure = details.querySelector<HTMLElement>('[data-pdf]:empty');
    if (figure && page) Object.assign(figure.dataset, { page, passage: passage?.lastElementChild?.textContent ?? '' });
    if (figure) void showPdfPage(details);
  });
}
