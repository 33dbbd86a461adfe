/** Returns the time this many days before `time`. Both times are ISO 8601 in UTC. */
export function daysBefore(time: string, days: number): string {
  return new Date(Date.parse(time) - days * 86_400_000).toISOString();
}
