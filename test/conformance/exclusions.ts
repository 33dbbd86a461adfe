/** Checks of `--requirements 2026-07-28` that the suite itself skips, and why. A listed check that runs fails the test. */
export interface Exclusion {
  scenario: string;
  checks: readonly string[];
  reason: string;
}

export const skipped: readonly Exclusion[] = [
  {
    scenario: 'server-stateless',
    checks: [
      'sep-2575-server-sends-prompts-list-changed-on-subscription',
      'sep-2575-server-sends-tools-list-changed-on-subscription',
    ],
    reason: 'Tools and prompts are fixed when the program starts, so listChanged is not declared.',
  },
  {
    scenario: 'tasks-status-notifications',
    checks: ['tasks-status-notifications'],
    reason: 'The suite has no test of them yet; test/e2e/tasks does.',
  },
];
