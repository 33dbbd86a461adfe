export async function runBombs(): Promise<void> {}
