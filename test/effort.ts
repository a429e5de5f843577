/** How many times as much as in CI those tests try that only find by trying: `PROVENDER_EFFORT=20 npx vitest run test/…`. */
export const effort = Number(process.env.PROVENDER_EFFORT ?? 1);
