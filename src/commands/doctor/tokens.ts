import { fail, good, warn, type Check } from "./check.ts";

interface ConfiguredToken {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly expires: number | undefined;
}

/** Checks the tokens of clients; empty where none is needed. */
export function examineTokens(
  tokens: readonly ConfiguredToken[],
  now: Date,
): readonly Check[] {
  const expired = tokens.filter(
    ({ expires = Infinity }) => expires <= now.getTime(),
  );
  const names = expired.map(({ name }) => `"${name}"`).join(", ");
  const tell = expired.length === tokens.length ? fail : warn;
  if (tokens.length === 0) return [];
  return expired.length === 0
    ? [good("tokens", `${tokens.length} tokens of clients are good.`)]
    : [
        tell(
          "tokens",
          `Tokens of clients have expired: ${names}.`,
          `Make new ones with "provender token new", and take these out of "auth.tokens".`,
        ),
      ];
}
