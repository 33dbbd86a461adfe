/** Takes and returns ISO 8601 in UTC. */
export function daysBefore(time: string, days: number): string {
  return new Date(Date.parse(time) - days * 86_400_000).toISOString();
}
