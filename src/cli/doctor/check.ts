/** The result of one `carrel doctor` check. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  /** What to do next, if something fails or could work better. */
  remedy?: string;
}
