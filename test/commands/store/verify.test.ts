import {
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import type { Site } from "../../mirror/bundles/bundles.ts";
import { blobOf } from "../../running-mirror.ts";
import { sha256Of } from "../../fakes/release.ts";
import { startFilledSites, plantOrphan } from "../../scenes/filled-sites.ts";
import { openRecords } from "../../store/stores.ts";
import { expectDocument } from "../documents.ts";

function flip(bytes: Buffer, at: number): Buffer {
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
}

/** Damages to the file at `path`; `other` is a good one. */
const damages: readonly ((path: string, other: string) => void)[] = [
  (path) => {
    const { atime, mtime, size } = statSync(path);
    writeFileSync(path, flip(readFileSync(path), size - 1));
    utimesSync(path, atime, mtime);
  },
  (path, other) => writeFileSync(path, readFileSync(other)),
  (path, other) => {
    rmSync(path);
    symlinkSync(other, path);
  },
  (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  // What is not there is not named.
  (path) => rmSync(path),
];

const scene = await startFilledSites(damages.length + 1);
const [first, ...others] = scene.releases;
if (first === undefined) throw new Error("there are many");

interface Found {
  readonly findings: readonly Readonly<
    Record<"kind" | "name", string> & { dropped: boolean }
  >[];
  readonly orphans: readonly object[];
}

async function verify(site: Site, ...flags: readonly string[]) {
  const run = await site.run("verify", "--json", ...flags);
  const found = expectDocument("verify", run.stdout) as Found;
  return { status: run.status, ...found };
}

type Evidence = Readonly<Record<string, string>>;

/** Changes what is recorded as evidence of 1.0.0. */
async function forge(
  site: Site,
  type: string,
  change: (first: Evidence) => readonly Evidence[],
): Promise<void> {
  const provider = ["registry.terraform.io", "acme", type];
  const records = openRecords(layOutStore(site.directory));
  const asRecorded = (body: unknown) => body as { evidence: Evidence[] };
  const key = ["releases", ...provider, "1.0.0"] as const;
  await records.change(key, asRecorded, (record) => ({
    ...{ ...record, evidence: [...change(record?.evidence[0] ?? {})] },
  }));
}

const signature = Buffer.from("none").toString("base64");

describe("provender verify", () => {
  it(`finds nothing in a good store, and names all of ${damages.length} damaged archives; --repair drops them, and all is fetched again`, async () => {
    const site = await scene.fill();
    const archives = scene.releases.length;
    expect(await verify(site)).toMatchObject({
      ...{ status: 0, archives, findings: [], orphans: [] },
    });
    const { stdout, stderr, status } = await site.run("verify");
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^6 archives \(.* KiB\) and \d+ records: 0 bad, 0 of them dropped, 0 orphans\.\n$/,
    );
    expect(stderr).toContain("1/1 archives: hashed, ");
    const damaged = others.map(sha256Of);
    for (const [n, sha256] of damaged.entries())
      damages[n]?.(blobOf(site, sha256), blobOf(site, sha256Of(first)));
    const orphan = plantOrphan(site, "nobody's");
    writeFileSync(join(site.directory, "blobs", "v1", "sha256", "notes"), "");
    const found = await verify(site);
    expect(found.status).toBe(1);
    expect(found.orphans).toEqual([{ sha256: orphan, size: 8 }]);
    const named = (kind: string) =>
      found.findings.filter((one) => one.kind === kind).map(({ name }) => name);
    expect(named("archive").toSorted()).toEqual(
      damaged.slice(0, -1).toSorted(),
    );
    expect(named("file")).toHaveLength(1);
    const repaired = await verify(site, "--repair");
    expect(repaired.status).toBe(0);
    expect(repaired.findings.every(({ dropped }) => dropped)).toBe(true);
    expect(await verify(site)).toMatchObject({ status: 0, findings: [] });
    const specs = scene.releases.map(({ type }) => `acme/${type}`);
    const linux = ["--platform", "linux_amd64"];
    expect((await site.run("prefetch", ...linux, ...specs)).status).toBe(0);
    expect(await verify(site)).toMatchObject({
      ...{ status: 0, findings: [], archives: specs.length + 1 },
    });
  });

  it("judges proofs again: a record is bad when none of its signatures holds, as one of two does after a key was taken away", async () => {
    const site = await scene.fill();
    await forge(site, first.type, (one) => [one, { ...one, signature }]);
    expect(await verify(site)).toMatchObject({ status: 0, findings: [] });
    await forge(site, first.type, (one) => {
      const bytes = Buffer.from(one.signature ?? "", "base64");
      const forged = flip(bytes, bytes.length - 5).toString("base64");
      return [{ ...one, signature: forged }];
    });
    const [name, problem] = [`${first.type}/1.0.0`, "signature"].map(
      (text) => expect.stringContaining(text) as string,
    );
    // Its pinned checksums stay.
    expect(await verify(site, "--repair")).toMatchObject({
      status: 1,
      findings: [{ kind: "record", name, problem, dropped: false }],
    });
  });
});
