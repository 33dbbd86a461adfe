/** Supervisors may restart the program after 69, but not after 78. 65: finished, but part of the input was skipped. */
export const exitCodes = { ok: 0, unexpected: 1, usage: 2, skipped: 65, unavailable: 69, configuration: 78 } as const;
