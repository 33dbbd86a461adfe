/** How much work a test does, for example the number of writes. */
export interface Size {
  /** Size in ordinary runs: enough to fail when the behaviour breaks. */
  readonly quick: number;
  /** Size before a release (`npm run test:full`). */
  readonly full: number;
  /** An environment variable that overrides the size, for long runs. */
  readonly variable?: string;
}

export function size({ quick, full, variable }: Size): number {
  const override = variable === undefined ? undefined : process.env[variable];
  if (override !== undefined) return Number(override);
  return process.env['CARREL_TEST_FULL'] === '1' ? full : quick;
}
