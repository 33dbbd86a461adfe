/**
 * CPU time that this process has used, in milliseconds. Readers are limited by it and not by elapsed time, which also passes
 * while a busy machine does other work: the same file must give the same text there.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
