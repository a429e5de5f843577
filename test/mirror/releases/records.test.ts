import { describe, expect, it } from "vitest";
import type { Version } from "../../../src/address/version.ts";
import {
  type KnownRelease,
  type SignatureJudge,
  type SignaturePolicy,
  type StoredEvidence,
  unknownRelease,
} from "../../../src/mirror/releases/evidence.ts";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import {
  address,
  evidenceOf,
  judgeFor,
  knownOf,
} from "../../scenes/release-sketches.ts";
import { sha256Of } from "../../scenes/test-registry.ts";
import { makeLayout, openRecords } from "../../store/stores.ts";

const now = new Date("2026-05-01T00:00:00Z");
const confirmedAt = new Date("2026-04-01T00:00:00Z");
const kept = (value: KnownRelease) => ({ value, confirmedAt });

const refusing: SignatureJudge = {
  library: "a table",
  decide: () =>
    Promise.resolve({ accepted: false, reason: "revoked", detail: "it is" }),
};

/** Records, and others over the same store; `write` writes a release, and `read` its evidence. */
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
  const releases = open();
  const write = (value: KnownRelease, of = address) =>
    releases.write(of, kept(value));
  const read = async (from = releases, of = address) =>
    (await from.read(of))?.value.trust.evidence ?? [];
  return { records, releases, open, write, read };
}

const withEvidence = (
  { trust, ...known }: KnownRelease,
  ...evidence: readonly StoredEvidence[]
): KnownRelease => ({ ...known, trust: { ...trust, evidence } });

describe("a release", () => {
  it("is read back with everything but the places of its archives", async () => {
    const { open } = await prepare();
    const releases = open({ signatures: "when-published" });
    const signed = await evidenceOf({ by: "K" }, "known");
    const unsigned = await evidenceOf({ by: undefined }, "unsigned");
    const { trust } = await knownOf({ by: "K", content: "linux=a darwin=b" });
    const label = { key_id: "K", source_url: "https://k.example" };
    const value: KnownRelease = {
      trust: {
        ...trust,
        evidence: [{ ...signed, keyLabels: [label] }, unsigned],
        published: new Set(["K", "L"]),
      },
      keys: ["KEYS", "MORE"],
      offered: new Set(["linux_amd64"]),
      places: new Map([["linux_amd64", "https://files.example.com/a.zip"]]),
      revision: 0,
    };
    expect(await releases.read(address)).toBeUndefined();
    const written = await releases.write(address, kept(value));
    const revision = written?.value.revision;
    expect(revision).toBeGreaterThan(0);
    const read = { ...value, places: new Map(), revision };
    expect(await releases.read(address)).toEqual({ value: read, confirmedAt });
  });

  it("that was not judged is not recorded, and a candidate alone pins nothing", async () => {
    const { releases, write, read } = await prepare();
    const unjudged = withEvidence(
      unknownRelease,
      await evidenceOf({ by: "K" }),
    );
    expect((await write(unjudged))?.value).toBe(unjudged);
    expect(await releases.read(address)).toBeUndefined();
    const candidate = await evidenceOf({ by: "K" }, "unknown");
    await write(withEvidence(unknownRelease, candidate));
    expect(await read()).toEqual([candidate]);
    expect(await releases.readPinned(address)).toBeUndefined();
  });

  it("names every archive of it, pinned or a candidate's, by its digest", async () => {
    const { releases, write } = await prepare();
    expect((await releases.readDigests(address)).size).toBe(0);
    const contents = ["linux=a darwin=b", "linux=c"];
    const sketches = contents.map((content) => ({ by: "K", content }));
    await write(await knownOf(...sketches));
    const fileOf = (os: string) =>
      `terraform-provider-thing_1.0.0_${os}_amd64.zip`;
    expect(Object.fromEntries(await releases.readDigests(address))).toEqual({
      [sha256Of("a")]: fileOf("linux"),
      [sha256Of("b")]: fileOf("darwin"),
      [sha256Of("c")]: fileOf("linux"),
    });
  });

  it("is listed by its provider and version, and no other row", async () => {
    const { releases, records, write } = await prepare();
    const value = await knownOf({ by: "K" });
    for (const type of ["c", "a", "b"])
      await write(value, {
        ...{ ...address, provider: { ...address.provider, type } },
      });
    const { hostname, namespace } = address.provider;
    const key = ["releases", hostname, namespace, "a", "no-version"] as const;
    await records.swap(key, 0, {});
    const found = await releases.listProviders();
    expect(found.map((one) => one.type)).toEqual(["a", "b", "c"]);
    const [first] = found;
    expect(first && (await releases.list(first))).toEqual(["1.0.0"]);
  });
});

describe("recorded evidence", () => {
  it("is judged again when it is read, and known with its signer where it does not hold, also beside other evidence", async () => {
    const { releases, open, write, read } = await prepare();
    const value = await knownOf({ by: "K" });
    await write(value);
    const strict = open({}, refusing);
    const fallen = (await strict.read(address))?.value;
    const [own] = fallen?.trust.evidence ?? [];
    expect(own).toMatchObject({
      ...{ isGood: false, signedBy: "K", noted: "known" },
      fault: { code: "signature-refused", reason: "revoked" },
    });
    expect([...(own?.content.values() ?? [])]).toEqual([sha256Of("a")]);
    expect(await read()).toEqual(value.trust.evidence);
    if (fallen === undefined || own === undefined)
      throw new Error("it is lost");
    const sketched = { by: "L", content: "linux=a win=c" };
    const more = await evidenceOf(sketched, "unknown");
    await strict.write(address, kept(withEvidence(fallen, own, more)));
    const [first, second] = await read();
    expect(first).toMatchObject({
      ...{ isGood: true, signedBy: "K", noted: "known" },
    });
    expect(second?.noted).toBe("unknown");
    expect((await releases.readPinned(address))?.signedBy).toBe("K");
  });

  it.each([
    ["now", "2026-01-01T00:00:00Z", now],
    ["when it was taken", "2026-05-01T01:00:00Z", undefined],
  ])(
    "is judged on other terms as of %s, where it was taken at %s",
    async (_, taken, expected) => {
      const { open, write, read } = await prepare();
      const known = await knownOf({ by: "K" });
      const [own] = known.trust.evidence;
      if (own === undefined) throw new Error("nothing is known");
      const verifiedAt = new Date(taken);
      const proof = { ...own.proof, verifiedAt };
      await write(withEvidence(known, { ...own, proof }));
      const [judged] = await read(open({ profile: "strict" }));
      expect(judged?.proof).toMatchObject({
        ...{ profile: "strict", verifiedAt: expected ?? verifiedAt },
      });
    },
  );

  it.each([
    ["another provider", { provider: { ...address.provider, type: "other" } }],
    ["another version", { version: "9.9.9" as Version }],
  ])("of %s names no archive of a release", async (_, of) => {
    const { releases, write, read } = await prepare();
    const place = { ...address, ...of };
    await write(await knownOf({ by: "K" }), place);
    const contents = (await read(releases, place)).map((one) => one.content);
    expect(contents).toEqual([new Map()]);
  });
});
