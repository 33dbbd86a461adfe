/** Supervisors may retry 69 and must not retry 78. 65: done, but part of the input was skipped. */
export const exitCodes = { fine: 0, unexpected: 1, usage: 2, skipped: 65, unavailable: 69, configuration: 78 } as const;
