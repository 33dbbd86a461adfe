/** How much a test does. */
export interface Size {
  /** For each change: enough to fail when the behaviour breaks. */
  readonly quick: number;
  /** Before a release (`npm run test:full`). */
  readonly full: number;
  /** An environment variable that overrides it, for long runs. */
  readonly variable?: string;
}

export function size({ quick, full, variable }: Size): number {
  const named = variable === undefined ? undefined : process.env[variable];
  if (named !== undefined) return Number(named);
  return process.env['CARREL_TEST_FULL'] === '1' ? full : quick;
}
