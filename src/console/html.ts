/** Markup that is safe to send: made by `html`, which escapes everything else. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

export type Part = Html | string | number | false | null | undefined | readonly Part[];

/** Markup with values in it. Values are text, however they look; only what `html` itself made stays markup. */
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

/** The value of a field in a form, quoted or in a textarea: as it is, or saving the form would change what nobody touched. */
export function fieldValue(text: string): Html {
  return new Html(escapeMarkup(text));
}

/**
 * For text and for quoted attributes. What reverses or hides the text around it is shown as a box: a title must not be
 * able to change how the page beside it reads.
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
