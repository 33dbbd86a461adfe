/** Makes the checkbox in a table's head select all rows. The document has the listener, because filtering replaces the table. */
export function watchSelecting(): void {
  showBoxes();
  new MutationObserver(showBoxes).observe(document.querySelector('main') ?? document.body, {
    childList: true,
    subtree: true,
  });
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    const form = target.form;
    const all = form?.querySelector<HTMLInputElement>('[data-select-all]');
    if (!form || !all) return;
    const boxes = [...form.querySelectorAll<HTMLInputElement>('[data-select]')];
    if (target === all) for (const box of boxes) box.checked = all.checked;
    const count = boxes.filter((box) => box.checked).length;
    all.checked = count === boxes.length;
    all.indeterminate = count > 0 && count < boxes.length;
  });
}

function showBoxes(): void {
  for (const box of document.querySelectorAll<HTMLInputElement>('[data-select-all][hidden]')) box.hidden = false;
}
