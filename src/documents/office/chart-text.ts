import type { OoxmlPackage } from './ooxml-package.ts';

/** Max series of a chart, and max points of each series. */
const seriesMax = 50;
const pointsMax = 500;

interface Series {
  name: string[];
  categories: string[];
  values: string[];
}

/** Elements of a series, and the field that their values belong to. Scatter charts have `xVal` and `yVal`. */
const fieldsOfElements = new Map<string, keyof Series>([
  ['tx', 'name'],
  ['cat', 'categories'],
  ['xVal', 'categories'],
  ['val', 'values'],
  ['yVal', 'values'],
]);

/** Describes a chart in text: a line with its titles, then a line per series with its name and points. */
export function readChart(document: OoxmlPackage, part: string): string[] {
  const titles: string[] = [];
  const series: Series[] = [];
  let current: Series | undefined;
  let field: keyof Series | undefined;
  let value: string | undefined;
  let title = '';
  let titleDepth = 0;
  let inText = false;
  document.walk(part, {
    open(name) {
      if (name === 'title') titleDepth += 1;
      else if (name === 't') inText = true;
      else if (name === 'v') value = '';
      else if (name === 'ser') {
        current = { name: [], categories: [], values: [] };
        if (series.length < seriesMax) series.push(current);
      } else if (current) field = fieldsOfElements.get(name) ?? field;
    },
    close(name) {
      if (name === 'title') {
        titleDepth -= 1;
        if (title.trim() !== '') titles.push(title.trim());
        title = '';
      } else if (name === 't') inText = false;
      else if (name === 'v') {
        const values = field && current?.[field];
        if (values && values.length < pointsMax) values.push((value ?? '').trim());
        value = undefined;
      } else if (name === 'ser') current = undefined;
      else if (fieldsOfElements.has(name)) field = undefined;
    },
    text(text) {
      if (inText && titleDepth > 0) title += text;
      else if (value !== undefined) value += text;
    },
  });
  const lines = series.map(describe).filter((line) => line !== '');
  return titles.length > 0 ? [`Chart: ${titles.join('; ')}`, ...lines] : lines;
}

/** Formats a series, for example as `Sales: 2024 10, 2025 12`. */
function describe({ name, categories, values }: Series): string {
  const points = values.map((value, index) => [categories[index] ?? '', formatValue(value)].filter(Boolean).join(' '));
  const list = points.length > 0 ? points.join(', ') : categories.join(', ');
  return [name.join(' '), list].filter((text) => text !== '').join(': ');
}

/** Formats a number without the rounding errors of binary fractions. Leaves other values as they are. */
function formatValue(value: string): string {
  const number = Number(value);
  return value === '' || !Number.isFinite(number) ? value : String(Number(number.toPrecision(12)));
}
