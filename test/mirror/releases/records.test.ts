import { describe, expect, it } from "vitest";
import type { Version } from "../../../src/address/version.ts";
import type { Release } from "../../../src/mirror/releases/release.ts";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import { listSigned } from "../../../src/mirror/releases/signed-releases.ts";
import { unlabelled } from "../../../src/origin/registries/registry-answers.ts";
import type { SignaturePolicy } from "../../../src/mirror/releases/verdict.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { address } from "../../scenes/believed-releases.ts";
import {
  digestOf,
  h1Of,
  judgeFor,
  sketch,
} from "../../scenes/release-sketches.ts";
import { makeLayout } from "../../store/stores.ts";

const now = new Date("2026-05-01T00:00:00Z");
const confirmedAt = new Date("2026-04-01T00:00:00Z");
const file = "terraform-provider-thing_1.0.0_linux_amd64.zip";

async function prepare() {
  const records = new DiskRecords(await makeLayout());
  const open = (policy: SignaturePolicy) =>
    new ReleaseRecords(records, {
      judge: judgeFor("K"),
      policyOf: () => policy,
      clock: { now: () => now, monotonic: () => 0 },
    });
  const required = { signatures: "required", profile: "terraform" } as const;
  return { records, releases: open(required), open };
}

const kept = (value: Release) => ({ value, confirmedAt });
const digests = (release: Release | undefined) =>
  [...(release?.packages.values() ?? [])].map(({ sha256 }) => sha256);

it("the first content of a release is claimed once", async () => {
  const { releases } = await prepare();
  const [a, b] = [
    await sketch({ by: "K" }),
    await sketch({ by: "K", content: "linux=b" }),
  ];
  expect(await releases.read(address)).toBeUndefined();
  expect(await releases.claim(address, kept(a))).toBeUndefined();
  expect(await releases.claim(address, kept(a))).toBeUndefined();
  const first = await releases.claim(address, kept(b));
  expect(digests(first)).toEqual([digestOf("a")]);
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

it("is read back unsigned where nobody signed it", async () => {
  const { open, records } = await prepare();
  const releases = open({ signatures: "when-published", profile: "terraform" });
  const excused = await sketch({ by: undefined });
  const proof = { ...excused.proof, signature: undefined };
  await releases.claim(address, kept({ ...excused, proof }));
  expect((await releases.read(address))?.value.proof).toEqual({
    ...proof,
    document: new Uint8Array(proof.document),
  });
  const { hostname, namespace, type } = address.provider;
  const key = ["providers", hostname, namespace, type, "releases", "1.0.0"];
  const body = await records.read(key, (found) => found as object);
  expect(body).toMatchObject({ proof: { signature: null } });
});

it("is described as it was believed, and without its proof by its digests", async () => {
  const { releases } = await prepare();
  expect(await releases.describe(address)).toBeUndefined();
  const release = await sketch({ by: "K" });
  await releases.claim(address, kept(release));
  const { firstSeen, checksums } = release;
  const digests = new Map([[file, digestOf("a")]]);
  expect(await releases.describe(address)).toEqual({
    ...{ firstSeen, signedBy: checksums.signedBy, digests },
  });
  await releases.dropProof(address);
  expect(await releases.describe(address)).toEqual({
    ...{ firstSeen: undefined, signedBy: undefined, digests },
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
  for (const known of [c, undefined]) {
    const other = await releases.write(address, kept(b), known);
    expect(digests(other.value)).toEqual([digestOf("a")]);
  }
  const next = await releases.write(address, kept(b), a);
  expect(digests(next.value)).toEqual([digestOf("b")]);
  expect(digests((await releases.read(address))?.value)).toEqual([
    digestOf("b"),
  ]);
});

it("keeps what is reported since of the same archive", async () => {
  const { releases } = await prepare();
  const release = await sketch({ by: "K", told: "linux=x" });
  await releases.claim(address, kept(release));
  const reported = new Map(
    [...release.reported].map(([name, report]) => [
      name,
      { ...report, offered: [h1Of("y")] },
    ]),
  );
  const changed = kept({ ...release, reported });
  await releases.write(address, changed, release);
  expect((await releases.read(address))?.value.reported).toEqual(reported);
});

describe("a release whose proof was dropped", () => {
  const dropped = async () => {
    const prepared = await prepare();
    const { releases } = prepared;
    const first = await sketch({ by: "K", told: "linux=x" });
    await releases.claim(address, kept(first));
    await releases.dropProof(address);
    return prepared;
  };

  it("can be claimed and written again", async () => {
    const { releases } = await dropped();
    const release = await sketch({ by: "K", content: "linux=b" });
    expect(await releases.claim(address, kept(release))).toBeUndefined();
    const written = await releases.write(address, kept(release), undefined);
    expect(digests(written.value)).toEqual([digestOf("b")]);
    expect(digests((await releases.read(address))?.value)).toEqual([
      digestOf("b"),
    ]);
  });

  it.each([
    ["of the same archive what was reported first", "linux=a", "x"],
    ["of another archive what is reported now", "linux=b", "y"],
  ])("keeps %s", async (_rule, content, told) => {
    const { releases } = await dropped();
    const now = await sketch({ by: "K", content, told: "linux=y" });
    const { value } = await releases.write(address, kept(now), undefined);
    const [report] = value.reported.values();
    expect(report?.packageHashes).toEqual([h1Of(told)]);
  });

  it("keeps the first digests that no later document names", async () => {
    const { releases } = await prepare();
    const first = await sketch({ by: "K", content: "linux=a darwin=b" });
    await releases.claim(address, kept(first));
    const next = await sketch({ by: "K", content: "linux=c" });
    await releases.write(address, kept(next), first);
    await releases.dropProof(address);
    expect(
      Object.fromEntries(await releases.readFirstDigests(address)),
    ).toEqual({
      [file]: digestOf("c"),
      [file.replace("linux", "darwin")]: digestOf("b"),
    });
  });
});

it.each([
  ["is not written again for a moment later", 999, {}, false],
  ["nor for the same moment", 0, {}, false],
  ["is written again a second later", 1000, {}, true],
  ["is written again under a clock that was set back", -1, {}, true],
  ["is written again when something is new", 0, { told: "linux=x" }, true],
])("what is recorded %s", async (_rule, later, changes, isWritten) => {
  const { releases } = await prepare();
  const before = await sketch({ by: "K" });
  await releases.write(address, kept(before), undefined);
  const stamp = await releases.stamp(address);
  const value = await sketch({ by: "K", ...changes });
  const at = new Date(confirmedAt.getTime() + later);
  await releases.write(address, { value, confirmedAt: at }, before);
  expect((await releases.stamp(address)) !== stamp).toBe(isWritten);
});

it("is written once where its origin says little of its keys", async () => {
  const { releases } = await prepare();
  const release = await sketch({ by: "K" });
  const value = { ...release, keyLabels: [{ ...unlabelled, id: "K" }] };
  await releases.claim(address, kept(value));
  const stamp = await releases.stamp(address);
  await releases.write(address, kept(value), undefined);
  expect(await releases.stamp(address)).toBe(stamp);
  const read = await releases.read(address);
  expect(read?.value.keyLabels).toEqual(value.keyLabels);
});

it("is said to have a ledger only by who saw to it that it has", async () => {
  const { releases, records } = await prepare();
  const { hostname, namespace, type } = address.provider;
  const key = ["providers", hostname, namespace, type, "releases", "1.0.0"];
  const hasLedger = () =>
    records.read(key, (body) => (body as { hasLedger?: true }).hasLedger);
  const [a, b] = [await sketch({ by: "K" }), await sketch({ by: "L" })];
  await releases.write(address, kept(a), undefined);
  expect(await hasLedger()).toBeUndefined();
  await releases.write(address, kept(b), a);
  expect(await hasLedger()).toBeUndefined();
  await records.remove(key);
  await releases.claim(address, kept(a));
  await releases.write(address, kept(b), a);
  await releases.dropProof(address);
  await releases.write(address, kept(a), undefined);
  expect(await hasLedger()).toBe(true);
});

it.each([
  ["another provider", { provider: { ...address.provider, type: "other" } }],
  ["another version", { version: "9.9.9" as Version }],
  [
    "another provider of another namespace",
    { provider: { ...address.provider, namespace: "x", type: "y" } },
  ],
])(
  "what is recorded of %s is not taken for a release's own, though it is well signed",
  async (_, of) => {
    const { releases } = await prepare();
    const release = kept(await sketch({ by: "K" }));
    await releases.claim({ ...address, ...of }, release);
    await expect(releases.read({ ...address, ...of })).rejects.toThrow(
      "archives that its SHA256SUMS does not name",
    );
  },
);

it("the first providers and all versions are listed, and no other file", async () => {
  const { releases, records } = await prepare();
  const release = kept(await sketch({ by: "K" }));
  for (const type of ["c", "a", "b"])
    await releases.claim(
      { ...address, provider: { ...address.provider, type } },
      release,
    );
  const { hostname, namespace } = address.provider;
  const folder = ["providers", hostname, namespace, "a", "releases"];
  await records.create([...folder, "no-version"], {}, (body) => body);
  const found = await releases.listProviders(2);
  expect(found.map(({ type }) => type)).toEqual(["a", "b"]);
  const [first] = found;
  expect(first && (await releases.list(first))).toEqual(["1.0.0"]);
});

it.each([
  ["of a provider under its key", "thing", "K", ["thing"]],
  ["of a namespace under its key", undefined, "K", ["other", "thing"]],
  ["under another key", undefined, "S", []],
])(
  "the releases %s are listed by their signer",
  async (_which, type, by, found) => {
    const { releases, records } = await prepare();
    const release = kept(await sketch({ by: "K" }));
    const other = { ...address.provider, type: "other" };
    await releases.claim(address, release);
    await releases.claim({ ...address, provider: other }, release);
    const signed = await listSigned(records, address.provider, type, by);
    expect(signed.map((one) => one.type)).toEqual(found);
  },
);
