const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** RFC 3339, with an offset: without one, a time would mean something else on another machine. */
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

export const expiryForms = 'a time such as 2027-01-31T00:00:00Z, or a span such as 12h, 30d or 8w';

/** When a token ends, as ISO 8601, UTC. Undefined if the text is neither of the two forms. */
export function readExpiry(text: string, now: Date): string | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([hdw])$/.exec(text) ?? [];
  const time = count === undefined ? parse(text) : now.getTime() + Number(count) * (unitsMs[unit] ?? Number.NaN);
  const isStorable = Number.isFinite(time) && time > 0 && time < Date.UTC(10_000, 0);
  return isStorable ? new Date(time).toISOString() : undefined;
}

function parse(text: string): number {
  return instant.test(text) ? Date.parse(text) : Number.NaN;
}
