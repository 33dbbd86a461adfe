/** Supervisors act on these: 69 may be retried, 78 must not. */
export const exitCodes = { fine: 0, unexpected: 1, usage: 2, unavailable: 69, configuration: 78 } as const;
