import { hash, randomBytes } from "node:crypto";
import * as z from "zod";
import { failure } from "../../errors/index.ts";
import { stdout } from "../output/report.ts";

/** `provender token NAME`: a token for a client, and what the configuration has to have of it. */
export function token({
  name,
  expires,
}: {
  readonly name: string;
  readonly expires?: string;
}): number {
  if (!/^\S(?:.*\S)?$/.test(name))
    throw failure(
      "arguments",
      "NAME",
      `expected text, got ${JSON.stringify(name)}`,
      "give a name such as ci",
    );
  if (expires !== undefined && !z.iso.date().safeParse(expires).success)
    throw failure(
      "arguments",
      "--expires",
      `expected a date, got ${JSON.stringify(expires)}`,
      "give one such as 2027-01-31",
    );
  const secret = `provender_${randomBytes(32).toString("base64url")}`;
  const entry = [
    `name: ${JSON.stringify(name)}`,
    `sha256: ${hash("sha256", secret)}`,
    ...(expires === undefined ? [] : [`expires: ${expires}`]),
  ];
  const lines = [
    "For the client; it is not shown again:",
    secret,
    'For "auth.tokens" in the configuration, which SIGHUP reads again:',
    `    - { ${entry.join(", ")} }`,
    "",
  ];
  stdout(lines.join("\n"));
  return 0;
}
