/** The invariants of the trust model, and what no invariant foresaw. */
export const invariants = {
  0: "every question is answered, and every failure is one that the code foresaw",
  1: "the digest first served for a platform stays, but for the content that a decision names",
  2: "no byte is served that no acceptable signer signed and no decision names",
  3: "a revoked key serves nothing a second later; a decision survives every crash",
  4: "listed means served, and served means listed, for every face",
  5: "after healing, everything good is served within two freshness periods",
  6: "a candidate changes nothing but lists and counts",
} as const;

export function expectThat(
  holds: boolean,
  invariant: keyof typeof invariants,
  problem: string,
): asserts holds {
  if (!holds) throw new Violation(invariant, problem);
}

export class Violation extends Error {
  readonly invariant: keyof typeof invariants;

  constructor(invariant: keyof typeof invariants, problem: string) {
    super(problem);
    this.invariant = invariant;
  }

  /** Sort of the violation, without the names of releases. */
  get sort(): string {
    const names = /[0-9a-f]{6,}|[abx]@[0-9.]+|(?:linux|windows|darwin)_\w+/g;
    const [line = ""] = this.message.split("\n");
    return `${this.invariant} ${line.replaceAll(names, "…")}`;
  }
}
