const started: (() => unknown)[] = [];

/** Has something that a test started end with the tests of its file. */
export function endWithFile(end: () => unknown): void {
  started.push(end);
}

/** The last one first: a mirror before its origins. */
export async function endStarted(): Promise<void> {
  for (const end of started.splice(0).toReversed()) await end();
}
