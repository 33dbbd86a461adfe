import type { OoxmlPackage } from './ooxml-package.ts';

/** Max series of a chart, and max figures of each. A larger chart only illustrates data that is elsewhere too. */
const seriesMax = 50;
const pointsMax = 500;

interface Series {
  name: string[];
  categories: string[];
  values: string[];
}

/** Describes a chart in words: its titles, then each series with the figures that were last drawn. */
export function readChart(document: OoxmlPackage, part: string): string[] {
  const titles: string[] = [];
  const series: Series[] = [];
  let current: Series | undefined;
  let into: string[] | undefined;
  let title = '';
  let inTitle = 0;
  let inText = false;
  let inValue = false;
  let value = '';
  document.walk(part, {
    open(name) {
      if (name === 'title') inTitle += 1;
      else if (name === 't') inText = true;
      else if (name === 'ser') {
        current = { name: [], categories: [], values: [] };
        if (series.length < seriesMax) series.push(current);
      } else if (current && name === 'tx') into = current.name;
      else if (current && (name === 'cat' || name === 'xVal')) into = current.categories;
      else if (current && (name === 'val' || name === 'yVal')) into = current.values;
      else if (name === 'v') {
        inValue = true;
        value = '';
      }
    },
    close(name) {
      if (name === 'title') {
        inTitle -= 1;
        if (title.trim() !== '') titles.push(title.trim());
        title = '';
      } else if (name === 't') inText = false;
      else if (name === 'v') {
        inValue = false;
        if (into && into.length < pointsMax) into.push(value.trim());
      } else if (['tx', 'cat', 'val', 'xVal', 'yVal'].includes(name)) into = undefined;
      else if (name === 'ser') current = undefined;
    },
    text(text) {
      if (inText && inTitle > 0) title += text;
      else if (inValue) value += text;
    },
  });
  const lines = series.map(describe).filter((line) => line !== '');
  return [...(titles.length > 0 ? [`Chart: ${titles.join('; ')}`] : []), ...lines];
}

function describe({ name, categories, values }: Series): string {
  const points = values.map((value, index) => [categories[index] ?? '', formatPoint(value)].filter(Boolean).join(' '));
  const list = points.length > 0 ? points.join(', ') : categories.join(', ');
  return [name.join(' '), list].filter((text) => text !== '').join(': ');
}

/** Formats a figure. Removes rounding errors of binary numbers. */
function formatPoint(value: string): string {
  const number = Number(value);
  return value === '' || !Number.isFinite(number) ? value : String(Number(number.toPrecision(12)));
}
