/** The result of one `carrel doctor` check. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  /** The next step when something fails or could work better. */
  remedy?: string;
}
