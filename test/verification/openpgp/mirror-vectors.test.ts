import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { originsOf } from "../../origins.ts";
import {
  digestsIn,
  outcomeOf,
  requestsFor,
} from "../../scenes/provider-requests.ts";

interface Vector {
  readonly name: string;
  readonly keys: readonly string[];
  readonly document: string;
  readonly signature: string;
  readonly expect: Readonly<Record<Profile, "accept" | "reject">>;
}

type Profile = (typeof profiles)[number];

const profiles = ["terraform", "opentofu", "enforce"] as const;
const vectors = readFileSync(
  new URL("../../fixtures/openpgp-signatures.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Vector);

const platforms = ["linux_amd64", "darwin_arm64"];
const tally = { good: 0, all: 0 };

let registry: Registry;
let mirror: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  for (const vector of vectors) serve(vector);
  const origins = profiles.map(
    (verification) =>
      originsOf(authority, registry, { verification }, hostOf(verification))
        .origins,
  );
  mirror = await startMirror({
    config: {
      origins: Object.assign({}, ...origins) as object,
      trust: { newKeys: "accept" },
    },
  });
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
  console.info(
    `${tally.good} of ${tally.all} decisions as the clients make them`,
  );
});

function hostOf(profile: Profile): string {
  return `${profile}.example.com`;
}

function namespaceOf(vector: Vector): string {
  return `vector-${vectors.indexOf(vector)}`;
}

function sumsOf(vector: Vector): Readonly<Record<string, string>> {
  const text = Buffer.from(vector.document, "base64").toString();
  const lines = text.matchAll(
    /^([0-9a-f]{64}) {2}terraform-provider-demo_1\.0\.0_(\w+)\.zip$/gm,
  );
  return Object.fromEntries(
    [...lines].map(([, sum = "", platform = ""]) => [platform, sum]),
  );
}

/** The protocol's documents of provider `demo` 1.0.0, as a registry that is what the vector says. */
function serve(vector: Vector): void {
  const namespace = namespaceOf(vector);
  const base = `/v1/providers/${namespace}/demo`;
  const files = `/archives/${namespace}/demo/1.0.0`;
  const sums = `${files}/terraform-provider-demo_1.0.0_SHA256SUMS`;
  const split = platforms.map((platform) => platform.split("_"));
  const versions = [
    { version: "1.0.0", platforms: split.map(([os, arch]) => ({ os, arch })) },
  ];
  registry.serve(`${base}/versions`, JSON.stringify({ versions }));
  for (const [index, [os, arch]] of split.entries()) {
    const filename = `terraform-provider-demo_1.0.0_${os}_${arch}.zip`;
    const document = {
      os,
      arch,
      filename,
      download_url: `${files}/${filename}`,
      shasums_url: sums,
      shasums_signature_url: `${sums}.sig`,
      shasum: sumsOf(vector)[platforms[index] ?? ""] ?? "0".repeat(64),
      signing_keys: {
        gpg_public_keys: vector.keys.map((key) => ({ ascii_armor: key })),
      },
    };
    registry.serve(
      `${base}/1.0.0/download/${os}/${arch}`,
      JSON.stringify(document),
    );
  }
  const octets = "application/octet-stream";
  registry.serve(sums, Buffer.from(vector.document, "base64"), octets);
  registry.serve(
    `${sums}.sig`,
    Buffer.from(vector.signature, "base64"),
    octets,
  );
}

describe("the clients' own answers, through VERSION.json", () => {
  it("are there for 79 signatures", () => {
    expect(vectors).toHaveLength(79);
  });

  it.each(vectors)("are given to $name", async (vector) => {
    for (const profile of profiles) {
      tally.all++;
      const ask = requestsFor(
        mirror,
        "demo",
        namespaceOf(vector),
        hostOf(profile),
      );
      const answer = await ask.version("1.0.0");
      const expected = vector.expect[profile];
      expect([profile, outcomeOf(answer)]).toEqual([
        profile,
        expected === "accept" ? "200" : "451 signature-refused",
      ]);
      if (expected === "accept")
        expect(digestsIn(answer)).toEqual(sumsOf(vector));
      tally.good++;
    }
  });
});
