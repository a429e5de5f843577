import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { describe, expect, it } from "vitest";
import { decideSignature } from "../../../src/verification/openpgp/signature.ts";

/**
 * Questions with the clients' answers that are not ours to publish: files of JSON lines with `name`, `keys` (armored),
 * `document` and `signature` (base64), and `expect` for each profile.
 */
const files = process.env.PROVENDER_VECTORS?.split(delimiter) ?? [];
const profiles = ["terraform", "opentofu", "enforce"] as const;

interface Vector {
  readonly name: string;
  readonly keys: readonly string[];
  readonly document: string;
  readonly signature: string;
  readonly expect: Readonly<Record<(typeof profiles)[number], string>>;
}

if (files.length === 0)
  console.warn(
    "SKIPPED: real signatures are not tried, since PROVENDER_VECTORS names no file of them.",
  );

describe.skipIf(files.length === 0)(
  "the clients' answers to what is given",
  () => {
    const vectors = files.flatMap((file) =>
      readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Vector),
    );

    it.each(vectors)("are given to $name", (vector) => {
      const decisions = profiles.map((profile) => {
        const { accepted } = decideSignature({
          document: Buffer.from(vector.document, "base64"),
          signature: Buffer.from(vector.signature, "base64"),
          keys: vector.keys,
          profile,
          now: new Date("2026-11-21T00:00:00Z"),
        });
        return [profile, accepted ? "accept" : "reject"];
      });
      expect(Object.fromEntries(decisions)).toEqual(vector.expect);
    });
  },
);
