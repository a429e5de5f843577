import fc from "../seeded.ts";

/** For each property, when `npm run fuzz` says so; a fixed number of tries otherwise. */
const fuzzFor = Number(process.env.PROVENDER_FUZZ_MS ?? 0);
const tries = 500;

/** How long a test with one property may take. */
export const timeout = Math.max(120_000, 2 * fuzzFor);

/** Tries a property with values made up for it; throws with the smallest one for which it does not hold. */
export async function holds<T extends readonly unknown[]>(
  property: fc.IRawProperty<[...T]>,
): Promise<void> {
  await fc.assert(property as fc.IAsyncProperty<[...T]>, {
    ...(fuzzFor > 0
      ? { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: fuzzFor }
      : { numRuns: tries }),
  });
}

/** Texts near a grammar: a good one with a few characters taken out, put in or doubled. */
export function nearly(good: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat(200),
    removed: fc.nat(2),
    added: fc.oneof(
      fc.constant(""),
      fc.string({ maxLength: 3, unit: "binary" }),
      fc.constantFrom("/", "..", "%", "_", "-", ".", ":", "\0", "\r\n", " "),
    ),
  });
  return fc
    .tuple(good, fc.array(change, { maxLength: 3 }))
    .map(([text, changes]) =>
      changes.reduce((changed, { at, removed, added }) => {
        const from = changed.length === 0 ? 0 : at % (changed.length + 1);
        return changed.slice(0, from) + added + changed.slice(from + removed);
      }, text),
    );
}
