import { failure, type Failure } from "../../errors/index.ts";

/** Makes the error of a command whose mirror wants a token, or refuses the one that it got. */
export function wantToken(
  { origin, host }: URL,
  cause?: Failure<"origin-credentials">,
): Failure<"origin-credentials"> {
  const name = host.replaceAll("-", "__").replaceAll(".", "_");
  const problem =
    cause?.words === undefined
      ? "wants a token, and got none or one that it does not take"
      : `refuses the token that it got because ${cause.words}`;
  const remedy = `set TF_TOKEN_${name} to one that it knows`;
  const options = cause === undefined ? {} : { cause };
  return failure(
    "origin-credentials",
    ...([origin, problem, remedy, cause?.words, options] as const),
  );
}
