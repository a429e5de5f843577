import { blobOf } from "../../running-mirror.ts";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { connectedSite, type Site } from "../../mirror/bundles/bundles.ts";
import { startMirror } from "../../running-mirror.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";
import { sha256Of } from "../../scenes/failing-origin.ts";
import { startFilledSites, plantOrphan } from "../../scenes/filled-sites.ts";
import { damages } from "../../store/damage.ts";
import { openRecords } from "../../store/stores.ts";

const scene = await startFilledSites(damages.length + 1);
const releases = scene.releases;

const fill = () => scene.fill();

interface Found {
  readonly archives: number;
  readonly findings: readonly {
    readonly kind: string;
    readonly name: string;
    readonly problem: string;
    readonly dropped: boolean;
  }[];
  readonly orphans: readonly { readonly sha256: string }[];
}

async function verify(site: Site, ...flags: readonly string[]) {
  const { status, stdout, stderr } = await site.run(
    "verify",
    "--json",
    ...flags,
  );
  return { status, stderr, ...(JSON.parse(stdout) as Found) };
}

const asRelease = (body: unknown) =>
  body as { readonly evidence: readonly Readonly<Record<string, string>>[] };

describe("provender verify", () => {
  it("finds nothing in a store that is good, says so in a table too, and shows what it hashes", async () => {
    const site = await fill();
    const found = await verify(site);
    expect([
      found.status,
      found.archives,
      found.findings,
      found.orphans,
    ]).toEqual([0, releases.length, [], []]);
    const { stdout, stderr, status } = await site.run("verify");
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^9 archives \(.* KiB\) and \d+ records: 0 bad, 0 of them dropped, 0 orphans\.\n$/,
    );
    expect(stderr).toContain("1/1 archives: hashed, ");
  });

  it(`names all of ${damages.length} damaged archives and as many records, drops them with --repair, and all is fetched again`, async () => {
    const site = await fill();
    const [spare, ...others] = releases;
    if (spare === undefined) throw new Error("there are many");
    const damaged = damages.map((damage, n) => {
      const release = others[n];
      if (release === undefined) throw new Error("one for each kind");
      damage.apply(
        blobOf(site, sha256Of(release)),
        blobOf(site, sha256Of(spare)),
      );
      return { damage, release };
    });
    const orphan = plantOrphan(site, "nobody's");
    writeFileSync(join(site.directory, "blobs", "v1", "sha256", "notes"), "");
    const found = await verify(site);
    expect(found.status).toBe(1);
    expect(found.orphans).toEqual([{ sha256: orphan, size: 8 }]);
    const expected = damaged
      .filter(({ damage }) => damage.kind !== "missing")
      .map(({ release }) => sha256Of(release));
    const archives = found.findings.filter(({ kind }) => kind === "archive");
    expect(archives.map(({ name }) => name).toSorted()).toEqual(
      expected.toSorted(),
    );
    expect(found.findings.filter(({ kind }) => kind === "file")).toHaveLength(
      1,
    );
    const repaired = await verify(site, "--repair");
    expect(repaired.status).toBe(0);
    expect(repaired.findings.every(({ dropped }) => dropped)).toBe(true);
    const again = await verify(site);
    expect([again.status, again.findings]).toEqual([0, []]);
    const refilled = await site.run(
      "prefetch",
      "--platform",
      "linux_amd64",
      ...releases.map(({ type }) => `acme/${type}`),
    );
    expect(refilled.status).toBe(0);
    const last = await verify(site);
    expect([last.status, last.findings]).toEqual([0, []]);
    expect(last.archives).toBe(releases.length + 1);
    console.log(
      `damaged: ${archives.length} archives, found: all, good ones called bad: 0`,
    );
  });

  it("judges proofs again: a record with a whole seal and another signature is bad", async () => {
    const site = await fill();
    const [forged] = releases;
    if (forged === undefined) throw new Error("there are many");
    const { type } = forged;
    const key = [
      "releases",
      "registry.terraform.io",
      "acme",
      type,
      "1.0.0",
    ] as const;
    const records = openRecords(layOutStore(site.directory));
    await records.change(key, asRelease, (record) => {
      const [first] = record?.evidence ?? [];
      const bytes = Buffer.from(first?.signature ?? "", "base64");
      bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 1;
      const signature = bytes.toString("base64");
      return { ...record, evidence: [{ ...first, signature }] };
    });
    const found = await verify(site);
    expect(found.status).toBe(1);
    expect(found.findings).toHaveLength(1);
    expect(found.findings[0]?.name).toContain(`${forged.type}/1.0.0`);
    expect(found.findings[0]?.problem).toContain("signature");
  });

  it("finds nothing where other evidence of the same release holds, as after a key was taken away", async () => {
    const site = await fill();
    const [{ type } = { type: "none" }] = releases;
    const key = [
      "releases",
      "registry.terraform.io",
      "acme",
      type,
      "1.0.0",
    ] as const;
    const records = openRecords(layOutStore(site.directory));
    const signature = Buffer.from("none").toString("base64");
    await records.change(key, asRelease, (record) => {
      const [first] = record?.evidence ?? [];
      return { ...record, evidence: [first, { ...first, signature }] };
    });
    expect(await verify(site)).toMatchObject({ status: 0, findings: [] });
  });

  it("keeps the pinned checksums of a release whose evidence is damaged: created again it is refused", async () => {
    const name = { type: "first", version: "1.0.0" };
    await scene.registry.publish({ ...name, seed: "first" });
    const site = connectedSite(scene.authority, scene.registry);
    expect((await site.run("prefetch", "acme/first")).status).toBe(0);
    const key = [
      "releases",
      "registry.terraform.io",
      "acme",
      "first",
      "1.0.0",
    ] as const;
    const records = openRecords(layOutStore(site.directory));
    const signature = Buffer.from("none").toString("base64");
    await records.change(key, asRelease, (record) => ({
      ...record,
      evidence: record?.evidence.map((one) => ({ ...one, signature })),
    }));
    const repaired = await verify(site, "--repair");
    expect(repaired.findings).toMatchObject([
      { kind: "record", dropped: false },
    ]);
    await scene.registry.publish({ ...name, seed: "created again" });
    const mirror = await startMirror({
      directory: site.directory,
      config: {
        ...site.config,
        storage: { directory: site.directory },
        freshness: { versions: "0" },
      },
    });
    const answer = await requestsFor(mirror, "first").version("1.0.0");
    expect(outcomeOf(answer)).toBe("451 signature-refused");
    await expect
      .poll(() => mirror.log.map(({ alarm }) => alarm))
      .toContain("release-replaced");
    await mirror.stop();
  });

  it("works beside a daemon, which fetches again what was dropped", async () => {
    const site = await fill();
    const mirror = await startMirror({
      directory: site.directory,
      config: { ...site.config, storage: { directory: site.directory } },
    });
    const [release] = releases;
    if (release === undefined) throw new Error("there are many");
    const path = blobOf(site, sha256Of(release));
    writeFileSync(path, "damaged");
    expect((await verify(site, "--repair")).findings).toHaveLength(1);
    expect(existsSync(path)).toBe(false);
    const { filename } = release.archive("linux_amd64");
    const answer = await mirror.get(
      `/providers/registry.terraform.io/acme/${release.type}/${filename}`,
    );
    expect([answer.status, answer.complete]).toEqual([200, true]);
    await mirror.stop();
    expect((await verify(site)).status).toBe(0);
  });
});
