/** Markup that is safe to send: made by `html`, which escapes everything else. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

export type Part = Html | string | number | false | null | undefined | readonly Part[];

/** Markup with values. Every value is escaped as text, unless `html` itself created it. */
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

/** A form field's value, unaltered: saving the form must not change text that nobody edited. */
export function fieldValue(text: string): Html {
  return new Html(escapeMarkup(text));
}

/**
 * For text and quoted attributes. Control characters, including bidirectional ones, are shown as a box: a title must not
 * change how the rest of the page reads.
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
