/** Supervisors act on these: 69 may be retried, 78 must not. 65: done, but part of the input was skipped. */
export const exitCodes = { fine: 0, unexpected: 1, usage: 2, skipped: 65, unavailable: 69, configuration: 78 } as const;
