/** Markup that is safe to send. It is made by `html`, which escapes all other values. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

export type Part = Html | string | number | false | null | undefined | readonly Part[];

/** Creates markup from a template. Every value is escaped as text, unless `html` created it. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(strings.map((text, index) => text + (index < values.length ? markupOf(values[index]) : '')).join(''));
}

function markupOf(value: Part): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (Array.isArray(value)) return value.map(markupOf).join('');
  return escapeText(String(value));
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes the value of a form field without replacing characters: saving a form must not change text that nobody edited. */
export function fieldValue(text: string): Html {
  return new Html(escapeMarkup(text));
}

/**
 * Escapes a value for text and quoted attributes. Control characters, including bidirectional ones, become a box: a title must
 * not change how the rest of the page is displayed.
 */
function escapeText(text: string): string {
  return escapeMarkup(
    text.replace(/[\u202a-\u202e\u2066-\u2069\p{Cc}]/gu, (character) =>
      /[\n\t]/.test(character) ? character : '\u25a1',
    ),
  );
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}
