import { describe, expect, it } from "vitest";
import type { Version } from "../../../src/address/version.ts";
import type {
  SignatureJudge,
  SignaturePolicy,
} from "../../../src/mirror/releases/evidence.ts";
import {
  unknownRelease,
  type KnownRelease,
} from "../../../src/mirror/releases/known-release.ts";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import { address } from "../../scenes/release-sketches.ts";
import {
  digestOf,
  evidenceOf,
  judgeFor,
  knownOf,
} from "../../scenes/release-sketches.ts";
import { makeLayout, openRecords } from "../../store/stores.ts";

const now = new Date("2026-05-01T00:00:00Z");
const confirmedAt = new Date("2026-04-01T00:00:00Z");
const fileOf = (os: string) => `terraform-provider-thing_1.0.0_${os}_amd64.zip`;
const { hostname, namespace } = address.provider;

const refusing: SignatureJudge = {
  library: "a table",
  decide: () =>
    Promise.resolve({ accepted: false, reason: "revoked", detail: "it is" }),
};

async function prepare() {
  const records = openRecords(await makeLayout());
  const open = (
    policy: Partial<SignaturePolicy> = {},
    judge: SignatureJudge = judgeFor("K"),
  ) =>
    new ReleaseRecords(records, {
      judge,
      policyOf: () => ({
        ...{ signatures: "required", profile: "terraform" },
        ...policy,
      }),
      clock: { now: () => now, monotonic: () => 0 },
    });
  return { records, releases: open(), open };
}

const kept = (value: KnownRelease) => ({ value, confirmedAt });
const contentsOf = (value: KnownRelease | undefined) =>
  value?.trust.evidence.map(({ content }) => [...content.values()].join());

describe("a release", () => {
  it("is read back with everything but the places of its archives", async () => {
    const { open } = await prepare();
    const releases = open({ signatures: "when-published" });
    const known = await knownOf(
      { by: "K", content: "linux=a darwin=b" },
      { by: undefined, content: "linux=a" },
    );
    const [signed, unsigned] = known.trust.evidence;
    if (signed === undefined || unsigned === undefined) throw new Error("none");
    const label = { key_id: "K", source_url: "https://k.example" };
    const value: KnownRelease = {
      trust: {
        ...known.trust,
        evidence: [
          { ...signed, keyLabels: [label] },
          { ...unsigned, noted: "unsigned" },
        ],
        published: new Set(["K", "L"]),
      },
      keys: ["KEYS", "MORE"],
      offered: new Set(["linux_amd64"]),
      places: new Map([["linux_amd64", "https://files.example.com/a.zip"]]),
      revision: 0,
    };
    expect(await releases.read(address)).toBeUndefined();
    const written = await releases.write(address, kept(value));
    const read = await releases.read(address);
    expect(read).toEqual(
      kept({
        ...value,
        places: new Map(),
        revision: expect.any(Number) as number,
      }),
    );
    expect(read?.value.revision).toBe(written?.value.revision);
  });

  it("that was not judged is not recorded", async () => {
    const { releases } = await prepare();
    const evidence = [await evidenceOf({ by: "K" })];
    const trust = { ...unknownRelease.trust, evidence };
    const value = { ...unknownRelease, trust };
    const written = await releases.write(address, kept(value));
    expect(written?.value).toBe(value);
    expect(await releases.read(address)).toBeUndefined();
  });

  it("that is a candidate alone is recorded, and pins nothing", async () => {
    const { releases } = await prepare();
    const evidence = [await evidenceOf({ by: "K" }, "unknown")];
    const trust = { ...unknownRelease.trust, evidence };
    const value = { ...unknownRelease, trust };
    await releases.write(address, kept(value));
    expect((await releases.read(address))?.value.trust).toEqual(trust);
    expect(await releases.readPinned(address)).toBeUndefined();
  });
});

describe("recorded evidence", () => {
  it("is judged again when it is read, and its digests and signer are still known where it does not hold", async () => {
    const { releases, open } = await prepare();
    const value = await knownOf({ by: "K", content: "linux=a" });
    await releases.write(address, kept(value));
    const [fallen] =
      (await open({}, refusing).read(address))?.value.trust.evidence ?? [];
    expect(fallen).toMatchObject({
      ...{ isGood: false, signedBy: "K", noted: "known" },
      fault: { code: "signature-refused", reason: "revoked" },
    });
    expect([...(fallen?.content.values() ?? [])]).toEqual([digestOf("a")]);
    const [good] = (await releases.read(address))?.value.trust.evidence ?? [];
    expect(good).toEqual(value.trust.evidence[0]);
  });

  it("that does not hold is kept with its signer when other evidence is recorded", async () => {
    const { releases, open } = await prepare();
    await releases.write(address, kept(await knownOf({ by: "K" })));
    const strict = open({}, refusing);
    const read = (await strict.read(address))?.value;
    if (read === undefined) throw new Error("it is not recorded");
    const more = await evidenceOf({ by: "L", content: "linux=a win=c" });
    const evidence = [
      ...read.trust.evidence,
      { ...more, noted: "unknown" as const },
    ];
    const next = { ...read, trust: { ...read.trust, evidence } };
    await strict.write(address, kept(next));
    const after = (await releases.read(address))?.value.trust;
    expect(after?.evidence.map(({ noted }) => noted)).toEqual([
      "known",
      "unknown",
    ]);
    expect(after?.evidence[0]).toMatchObject({ isGood: true, signedBy: "K" });
    expect(after?.pinned?.signedBy).toBe("K");
  });

  it("is judged as of now, on other terms than it was taken on", async () => {
    const { releases, open } = await prepare();
    await releases.write(address, kept(await knownOf({ by: "K" })));
    const strict = open({ profile: "strict" });
    const [own] = (await strict.read(address))?.value.trust.evidence ?? [];
    expect(own?.proof).toMatchObject({ profile: "strict", verifiedAt: now });
  });

  it("is judged as of when it was taken, on other terms after the clock was set back", async () => {
    const { releases, open } = await prepare();
    const known = await knownOf({ by: "K" });
    const verifiedAt = new Date(now.getTime() + 3_600_000);
    const [own] = known.trust.evidence;
    if (own === undefined) throw new Error("nothing is known");
    const evidence = [{ ...own, proof: { ...own.proof, verifiedAt } }];
    const later = { ...known, trust: { ...known.trust, evidence } };
    await releases.write(address, kept(later));
    const read = await open({ profile: "strict" }).read(address);
    expect(read?.value.trust.evidence[0]?.proof).toMatchObject({
      ...{ profile: "strict", verifiedAt },
    });
  });

  it.each([
    ["another provider", { provider: { ...address.provider, type: "other" } }],
    ["another version", { version: "9.9.9" as Version }],
  ])("of %s names no archive of a release", async (_, of) => {
    const { releases } = await prepare();
    const place = { ...address, ...of };
    await releases.write(place, kept(await knownOf({ by: "K" })));
    const read = await releases.read(place);
    expect(contentsOf(read?.value)).toEqual([""]);
  });
});

it("names every archive of it, pinned or a candidate's, by its digest", async () => {
  const { releases } = await prepare();
  expect((await releases.readDigests(address)).size).toBe(0);
  const value = await knownOf(
    { by: "K", content: "linux=a darwin=b" },
    { by: "K", content: "linux=c" },
  );
  await releases.write(address, kept(value));
  expect(Object.fromEntries(await releases.readDigests(address))).toEqual({
    [digestOf("a")]: fileOf("linux"),
    [digestOf("b")]: fileOf("darwin"),
    [digestOf("c")]: fileOf("linux"),
  });
});

it("the providers and all versions are listed, and no other file", async () => {
  const { releases, records } = await prepare();
  const value = kept(await knownOf({ by: "K" }));
  for (const one of ["c", "a", "b"]) {
    const provider = { ...address.provider, type: one };
    await releases.write({ ...address, provider }, value);
  }
  const key = ["releases", hostname, namespace, "a", "no-version"] as const;
  await records.swap(key, 0, {});
  const found = await releases.listProviders();
  expect(found.map((one) => one.type)).toEqual(["a", "b", "c"]);
  const [first] = found;
  expect(first && (await releases.list(first))).toEqual(["1.0.0"]);
});
