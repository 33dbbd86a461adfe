/** As ISO 8601, UTC, of a time in the same form. */
export function daysBefore(time: string, days: number): string {
  return new Date(Date.parse(time) - days * 86_400_000).toISOString();
}
