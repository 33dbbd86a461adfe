/**
 * CPU time that this process has used, in milliseconds. Readers are bounded by it and not by the time of day, which goes on
 * while a busy machine works for others: the same file must give the same text there.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
