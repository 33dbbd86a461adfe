import type { PageElement } from './page-tree.ts';

const columnsMax = 50;

/** True if a table holds data. Layout tables, and those with headings or code in cells, are read cell by cell instead. */
export function isDataTable(table: PageElement): boolean {
  const role = table.attributes.get('role');
  if (role === 'presentation' || role === 'none') return false;
  let rows = 0;
  let cells = 0;
  let blocks = 0;
  const stack: PageElement[] = [table];
  for (let element = stack.pop(); element; element = stack.pop()) {
    for (const child of element.children) {
      if (typeof child === 'string' || child.isDropped) continue;
      if (child.tag === 'table' || child.tag === 'pre' || /^h[1-6]$/.test(child.tag)) return false;
      if (child.tag === 'tr') rows += 1;
      if (child.tag === 'td' || child.tag === 'th') cells += 1;
      if (child.tag === 'p' || child.tag === 'ul' || child.tag === 'ol' || child.tag === 'blockquote') blocks += 1;
      stack.push(child);
    }
  }
  return rows > 0 && cells > rows && (rows > 1 || blocks === 0) && blocks <= cells;
}

/** Returns how many columns a cell spans, so that the row has at most `columnsMax` columns. */
export function spanOf(cell: PageElement, columnsBefore: number): number {
  const span = Number.parseInt(cell.attributes.get('colspan') ?? '1', 10);
  return span >= 1 ? Math.max(1, Math.min(span, columnsMax - columnsBefore)) : 1;
}
