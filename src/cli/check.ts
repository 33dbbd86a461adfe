/** One thing that `carrel doctor` has looked at. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  /** The next thing to type or do, where something is wrong. */
  remedy?: string;
}
