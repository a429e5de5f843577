import { expect, it } from "vitest";
import type { Release } from "../../../src/mirror/releases/release.ts";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import type { SignaturePolicy } from "../../../src/mirror/releases/verdict.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { address } from "../../scenes/believed-releases.ts";
import { digestOf, judgeFor, sketch } from "../../scenes/release-sketches.ts";
import { makeLayout } from "../../store/stores.ts";

const now = new Date("2026-05-01T00:00:00Z");
const confirmedAt = new Date("2026-04-01T00:00:00Z");
const file = "terraform-provider-thing_1.0.0_linux_amd64.zip";

async function prepare() {
  const records = new DiskRecords(await makeLayout());
  const begun: string[] = [];
  const open = (policy: SignaturePolicy) =>
    new ReleaseRecords(records, {
      judge: judgeFor("K"),
      policyOf: () => policy,
      clock: { now: () => now, monotonic: () => 0 },
      beginLedger: ({ namespace }) => {
        begun.push(namespace);
        return Promise.resolve();
      },
    });
  const required = { signatures: "required", profile: "terraform" } as const;
  return { releases: open(required), open, begun };
}

const kept = (value: Release) => ({ value, confirmedAt });
const digests = (release: Release | undefined) =>
  [...(release?.packages.values() ?? [])].map(({ sha256 }) => sha256);

it("the first content of a release is claimed once, after its ledger was begun", async () => {
  const { releases, begun } = await prepare();
  const [a, b] = [
    await sketch({ by: "K" }),
    await sketch({ by: "K", content: "linux=b" }),
  ];
  expect(await releases.read(address)).toBeUndefined();
  expect(await releases.claim(address, kept(a))).toBeUndefined();
  expect(await releases.claim(address, kept(a))).toBeUndefined();
  const first = await releases.claim(address, kept(b));
  expect(digests(first)).toEqual([digestOf("a")]);
  expect(begun).toEqual(["acme", "acme", "acme"]);
});

it("is read back as it was believed, with its proof", async () => {
  const { releases } = await prepare();
  const release = await sketch({ by: "K", told: "linux=x" });
  await releases.claim(address, kept(release));
  const read = await releases.read(address);
  expect(read?.confirmedAt).toEqual(confirmedAt);
  const { proof, firstSeen, reported } = read?.value ?? {};
  expect({ firstSeen, reported }).toEqual({
    firstSeen: release.firstSeen,
    reported: release.reported,
  });
  const { document, signature } = release.proof;
  expect(proof).toEqual({
    ...release.proof,
    document: new Uint8Array(document),
    signature: signature && new Uint8Array(signature),
  });
});

it("is judged anew, as of now, on other terms than it was believed on", async () => {
  const { releases, open } = await prepare();
  await releases.claim(address, kept(await sketch({ by: "K" })));
  const strict = open({ signatures: "required", profile: "strict" });
  const { proof } = (await strict.read(address))?.value ?? {};
  expect(proof).toMatchObject({ profile: "strict", verifiedAt: now });
});

it("leaves its first digests when its proof is dropped", async () => {
  const { releases } = await prepare();
  await releases.claim(address, kept(await sketch({ by: "K" })));
  await releases.dropProof(address);
  expect(await releases.read(address)).toBeUndefined();
  const first = await releases.readFirstDigests(address);
  expect([...first]).toEqual([[file, digestOf("a")]]);
});

it("is continued by who knew it, and not by who knew another content", async () => {
  const { releases } = await prepare();
  const [a, b, c] = [
    await sketch({ by: "K" }),
    await sketch({ by: "K", content: "linux=b" }),
    await sketch({ by: "K", content: "linux=c" }),
  ];
  await releases.claim(address, kept(a));
  const other = await releases.write(address, kept(b), c);
  expect(digests(other.value)).toEqual([digestOf("a")]);
  const next = await releases.write(address, kept(b), a);
  expect(digests(next.value)).toEqual([digestOf("b")]);
  expect(digests((await releases.read(address))?.value)).toEqual([
    digestOf("b"),
  ]);
});
