import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decideSignature } from "../../src/verification/signature-worker.ts";

interface Vector {
  readonly name: string;
  /** Armored. */
  readonly keys: readonly string[];
  /** Base64, as the signature. */
  readonly document: string;
  readonly signature: string;
  /** The clients' own answers, by profile. */
  readonly expect: Readonly<Record<(typeof profiles)[number], Answer>>;
}

type Answer = "accept" | "reject";

const profiles = ["terraform", "opentofu", "enforce"] as const;

/** What is weak is refused under strict, which takes and refuses the same as enforce else. */
const weak = ["algo-dsa1024", "algo-dsa2048", "hash-SHA1", "selfsig-sha1"];

/** Those that are decided otherwise, by their row of docs/openpgp.md. */
const differing: Readonly<Record<string, string>> = {
  "sig-future": "A date in the future",
  "sig + newline": "Octets after the signature",
  "sig + 0xff garbage": "Octets after the signature",
  "armor indented lines": "Indented armor",
  "armor no END": "Armor without its last line",
  "key + unknown/other packet tag 17 at end": "Packets that say nothing",
  "sig preceded by packet tag 21": "Packets that say nothing",
  "2nd UID self-sig corrupted": "A part of a key that is bad",
  "primary ok + subkey without binding (sig by primary)":
    "A part of a key that is bad",
  "primary ok + subkey w/ foreign binding (sig by primary)":
    "A part of a key that is bad",
  "v4 non-exportable in msg sig": "A signature that is not to be exported",
  "self-sig with designated revoker": "A designated revoker",
};

const fixture = new URL(
  "../fixtures/openpgp-signatures.jsonl",
  import.meta.url,
);
const document = new URL("../../docs/openpgp.md", import.meta.url);

function ask(vector: Vector) {
  const all = [...profiles, "strict"] as const;
  const asked = all.map(async (profile) => {
    const { accepted } = await decideSignature({
      document: Buffer.from(vector.document, "base64"),
      signature: Buffer.from(vector.signature, "base64"),
      keys: vector.keys,
      profile,
      now: new Date("2026-11-21T00:00:00Z"),
    });
    return [profile, accepted ? "accept" : "reject"] as const;
  });
  return Promise.all(asked).then((answers) => Object.fromEntries(answers));
}

describe("the clients' own answers", () => {
  const lines = readFileSync(fixture, "utf8").trim().split("\n");
  const vectors = lines.map((line) => JSON.parse(line) as Vector);

  it.each(vectors)(
    "are given, but for known differences: $name",
    async (vector) => {
      const { strict, ...answers } = await ask(vector);
      const isWeak = weak.includes(vector.name);
      expect(strict).toBe(isWeak ? "reject" : answers.enforce);
      if (vector.name in differing) expect(answers).not.toEqual(vector.expect);
      else expect(answers).toEqual(vector.expect);
    },
  );

  it("differ in vectors that are there, each by a row of the document", () => {
    const names = vectors.map(({ name }) => name);
    const text = readFileSync(document, "utf8");
    for (const [name, row] of Object.entries(differing)) {
      expect(names).toContain(name);
      expect(text).toContain(`\n| ${row} `);
    }
  });
});
