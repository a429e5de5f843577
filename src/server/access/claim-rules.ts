/** Patterns by claim; a token has to have every claim, with a value that one of its patterns matches. */
export type ClaimRules = ReadonlyMap<string, readonly string[]>;

/** Finds a claim that is missing or has another value; undefined when all rules hold. */
export function findRefusedClaim(
  claims: Readonly<Record<string, unknown>>,
  rules: ClaimRules,
): string | undefined {
  for (const [name, patterns] of rules) {
    const values = Object.hasOwn(claims, name) ? listTexts(claims[name]) : [];
    const holds = values.some((value) =>
      patterns.some((pattern) => isMatch(pattern, value)),
    );
    if (!holds) return name;
  }
  return undefined;
}

/** A claim with several values holds by any of them. */
function listTexts(value: unknown): readonly string[] {
  return [value]
    .flat()
    .filter((one) => ["string", "number", "boolean"].includes(typeof one))
    .map(String);
}

/** `*` stands for any characters, none and `/` included; letters keep their case. */
export function isMatch(pattern: string, value: string): boolean {
  const [head = "", ...parts] = pattern.split("*");
  const tail = parts.pop();
  if (tail === undefined) return value === pattern;
  if (!value.startsWith(head)) return false;
  let at = head.length;
  for (const part of parts) {
    const found = value.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return value.length - tail.length >= at && value.endsWith(tail);
}
