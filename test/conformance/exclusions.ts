/**
 * What of `--requirements 2026-07-28` Carrel does not pass, and why. A check that is listed here and passes fails the
 * test as much as one that fails and is not listed, so the table stays true. The suite itself scores none of these.
 */
export interface Exclusion {
  scenario: string;
  checks: readonly string[];
  reason: string;
}

const tasks =
  'The extension io.modelcontextprotocol/tasks: the SDK has no server side for it, and slow calls have job handles instead.';

export const excluded: readonly Exclusion[] = [
  {
    scenario: 'tasks-lifecycle',
    checks: [
      'tasks-sync-tool-call',
      'sep-2663-result-type-task-on-create',
      'sep-2663-tasks-get-status-working',
      'sep-2663-tasks-get-status-completed',
      'sep-2663-tool-error-uses-completed-status',
      'sep-2663-tasks-get-status-failed',
      'sep-2663-cancel-ack-empty-result',
      'tasks-cancel-terminal-idempotent-ack',
    ],
    reason: tasks,
  },
  {
    scenario: 'tasks-capability-negotiation',
    checks: [
      'tasks-extension-advertised',
      'sep-2663-tasks-methods-non-declaring',
      'sep-2663-server-rejects-undeclared-client',
      'tasks-per-request-meta-opt-in',
    ],
    reason: tasks,
  },
  {
    scenario: 'tasks-wire-fields',
    checks: ['tasks-wire-field-renames', 'tasks-no-early-ttl-expiry', 'tasks-no-related-task-meta-on-inlined-result'],
    reason: tasks,
  },
  {
    scenario: 'tasks-request-state-removal',
    checks: ['tasks-request-state-removal-setup'],
    reason: tasks,
  },
  {
    scenario: 'tasks-mrtr-input',
    checks: [
      'sep-2663-tasks-get-status-input-required',
      'tasks-mrtr-tasks-update-resumes',
      'tasks-mrtr-partial-fulfillment',
    ],
    reason: tasks,
  },
  {
    scenario: 'tasks-request-headers',
    checks: [
      'tasks-headers-tolerate-mcp-method-on-tools-call',
      'sep-2663-routing-headers-accepted-on-tasks-get',
      'sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
    ],
    reason: tasks,
  },
  {
    scenario: 'tasks-dispatch-and-envelope',
    checks: [
      'tasks-server-directed-creation-no-hint',
      'sep-2663-legacy-task-param-ignored',
      'tasks-immediate-result-shortcut',
      'tasks-result-type-complete-on-non-task-responses',
      'sep-2663-durable-create-strong-consistency',
      'sep-2663-tasks-get-invalid-task-id-32602',
    ],
    reason: tasks,
  },
  {
    scenario: 'tasks-required-task-error',
    checks: ['sep-2663-server-returns-missing-capability-when-required'],
    reason: tasks,
  },
  {
    scenario: 'tasks-mrtr-composition',
    checks: ['sep-2663-mrtr-synchronous-before-task-creation'],
    reason: tasks,
  },
];

/** Checks that the suite itself skips, because what they need is optional and not offered. */
export const skipped: readonly Exclusion[] = [
  {
    scenario: 'server-stateless',
    checks: [
      'sep-2575-server-sends-prompts-list-changed-on-subscription',
      'sep-2575-server-sends-tools-list-changed-on-subscription',
    ],
    reason: 'Tools and prompts are fixed when the program starts, so listChanged is not declared.',
  },
  { scenario: 'tasks-status-notifications', checks: ['tasks-status-notifications'], reason: tasks },
];
