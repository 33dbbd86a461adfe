/** One thing that `carrel doctor` has looked at. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  /** The next thing to type or do, where something is wrong, or works but not as well as it could. */
  remedy?: string;
}
