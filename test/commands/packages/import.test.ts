import { blobOf } from "../../running-mirror.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import {
  bundleLimits,
  openBundle,
} from "../../../src/commands/packages/import.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { createSigner } from "../../fakes/signing.ts";
import { scratch } from "../../running-mirror.ts";
import {
  connectedSite,
  digestOf,
  exportBundle,
  offlineSite,
  putTogether,
  takeApart,
  type Site,
} from "../../mirror/bundles/bundles.ts";
import { runHere } from "../../running-here.ts";

// Each test runs several commands, each a process of its own.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const linux = "linux_amd64";
const darwin = "darwin_arm64";
const both = ["--platform", linux, "--platform", darwin];
const widget = "registry.terraform.io/acme/widget";

const authority = await createAuthority();
const registry = await startRegistry({ authority });
const release = await registry.publish({
  version: "1.2.3",
  platforms: [linux, darwin, "windows_amd64"],
  size: 30_000,
});
const here = connectedSite(authority, registry);
const bundle = await exportBundle(here, ...both, "acme/widget@1.2.3");
const limits = bundleLimits(loadConfiguration({ file: here.configFile }));

function decide(site: Site, ...args: readonly string[]) {
  const [action = "", ...rest] = args;
  const flags = ["--config", site.configFile];
  return runHere(["trust", action, ...flags, ...rest]);
}

describe("a bundle", () => {
  it("is taken with the digest that export printed, and refused with another", async () => {
    const file = join(here.directory, "..", `${crypto.randomUUID()}.tar`);
    const made = await here.run("export", "--to", file, "acme/widget@1.2.3");
    const [, digest = ""] =
      /^The SHA-256 of its manifest is ([0-9a-f]{64}): /m.exec(made.stderr) ??
      [];
    const site = offlineSite();
    const changed = digest.replace(/^./, (first) =>
      first === "0" ? "1" : "0",
    );
    for (const [given, reason, expected] of [
      [changed, `its manifest is ${digest}, expected ${changed}`, 1],
      [digest.slice(1), "it is not a SHA-256", 2],
    ] as const) {
      const { status, stderr } = await site.run(
        "import",
        "--sha256",
        given,
        file,
      );
      expect(stderr).toContain(reason);
      expect(status).toBe(expected);
      expect([...site.snapshot().keys()]).toEqual([]);
    }
    const taken = await site.run(
      "import",
      "--sha256",
      digest.toUpperCase(),
      file,
    );
    expect(taken).toMatchObject({ status: 0 });
    expect(taken.stderr).not.toContain("Nothing vouches");
  });

  it.each([
    "registry.terraform.io/hashicorp",
    "registry.opentofu.org/hashicorp",
    "registry.opentofu.org/opentofu",
  ])(
    "whose manifest gives the name of %s to what was signed is refused by its digest, and by the key that the program knows",
    async (name) => {
      const { digest, parts } = readBundle();
      const text = JSON.stringify(parts.manifest);
      const acme = "registry.terraform.io/acme";
      const manifest = JSON.parse(
        text.replaceAll(acme, name),
      ) as typeof parts.manifest;
      const renamed = join(scratch("renamed"), "bundle.tar");
      writeFileSync(renamed, putTogether({ ...parts, manifest }));
      const [hostname = ""] = name.split("/");
      const origins = { [hostname]: { url: "https://127.0.0.1:1/" } };
      const site = offlineSite({ config: { origins } });
      const asked = await site.run("import", "--sha256", digest, renamed);
      expect(asked.stderr).toContain(`expected ${digest}`);
      expect(asked.stderr).toContain("get a whole copy of what");
      expect(asked.status).toBe(1);
      expect(site.snapshot().size).toBe(0);
      const { status, stderr } = await site.run("import", renamed);
      expect(stderr).toContain(`Nothing vouches for the names in ${renamed}`);
      expect(stderr).toMatch(
        /widget 1\.2\.3: .* is not the publisher's .*: install it from nowhere, and find out/,
      );
      expect(status).toBe(1);
      expect(
        [...site.snapshot().keys()].filter((path) => path.startsWith("blobs")),
      ).toEqual([]);
      const listed = await decide(site, "list", "--json");
      const { namespaces } = JSON.parse(listed.stdout) as {
        namespaces: readonly object[];
      };
      expect(namespaces).toMatchObject([
        { namespace: name, firstKey: null, providerKeys: [] },
      ]);
    },
  );

  it("with any byte of its manifest changed is refused by the digest that export printed", async () => {
    const { digest, bytes, size } = readBundle();
    const changed = join(scratch("changed"), "bundle.tar");
    for (let at = 0; at < size; at++) {
      const other = Buffer.from(bytes);
      other.writeUInt8((bytes[512 + at] ?? 0) ^ 1, 512 + at);
      writeFileSync(changed, other);
      await expect(
        openBundle(changed, digest, limits, () => undefined),
        `byte ${at}`,
      ).rejects.toThrow(`expected ${digest}), and nothing of it was imported`);
    }
  });
});

/** The bundle, with the digest and size of its manifest. */
function readBundle() {
  const bytes = readFileSync(bundle);
  const parts = takeApart(bytes);
  const manifest = Buffer.from(`${JSON.stringify(parts.manifest, null, 2)}\n`);
  return { bytes, parts, size: manifest.length, digest: digestOf(manifest) };
}

describe("import", () => {
  it("fills an empty store and writes nothing the second time", async () => {
    const site = offlineSite();
    const first = await site.run("import", bundle);
    expect(first.stderr).toContain(`${widget} 1.2.3: 2 archives imported`);
    expect(first.status).toBe(0);
    const stored = readFileSync(blobOf(site, release.archive(linux).sha256));
    expect(stored.equals(release.archive(linux).bytes)).toBe(true);

    const before = site.snapshot();
    const second = await site.run("import", bundle);
    expect(second.stderr).toContain(
      `${widget} 1.2.3: 2 archives already there`,
    );
    expect(second.status).toBe(0);
    expect(site.snapshot()).toEqual(before);
  });

  it("takes what rules and keys allow and names what they do not, with the reason", async () => {
    const gadget = await registry.publish({ type: "gadget", version: "1.0.0" });
    const two = await exportBundle(here, "acme/widget@1.2.3", "acme/gadget");
    const deny = { match: "*/acme/widget", action: "deny" };
    const site = offlineSite({ config: { policy: { rules: [deny] } } });
    const { status, stderr } = await site.run("import", two);
    expect(stderr).toMatch(/widget 1\.2\.3: .*denied by "policy.rules\[0\]"/);
    expect(stderr).toContain("acme/gadget 1.0.0: 1 archives imported");
    expect(status).toBe(1);
    const stored = [...site.snapshot().keys()];
    const blobs = stored.filter((path) => path.startsWith("blobs/"));
    expect(blobs).toHaveLength(1);
    expect(blobs[0]).toContain(gadget.archive(linux).sha256);
  });

  it("says what is missing of an incremental bundle, and completes what the first one brought", async () => {
    const next = await registry.publish({
      version: "1.3.0",
      platforms: [linux],
    });
    const specs = [
      "--platform",
      linux,
      "acme/widget@1.2.3",
      "acme/widget@1.3.0",
    ];
    const from = connectedSite(authority, registry);
    const small = await exportBundle(from, "--since", bundle, ...specs);
    const { members } = takeApart(readFileSync(small));
    const { sha256 } = next.archive(linux);
    expect(members.map(({ name }) => name.replace(/\/.*/, ""))).toEqual([
      "proofs",
      "archives",
    ]);
    expect(members[1]?.name).toBe(`archives/${sha256}.zip`);

    const empty = offlineSite();
    const alone = await empty.run("import", small);
    expect(alone.stderr).toMatch(/widget 1\.2\.3 is neither in the bundle nor/);
    expect(alone.stderr).toContain(`${widget} 1.3.0: 1 archives imported`);
    expect(alone.status).toBe(1);

    const site = offlineSite();
    await site.run("import", bundle);
    expect((await site.run("import", small)).status).toBe(0);
  });

  it("reports a missing bundle", async () => {
    const site = offlineSite();
    const { status, stderr } = await site.run("import", "/nowhere/a.tar");
    expect(stderr).toMatch(/a\.tar is refused as a bundle .*ENOENT/);
    expect(status).toBe(1);
    expect((await site.run("import", site.directory)).status).toBe(1);
  });
});

describe("trust across the gap", () => {
  it("takes every key of the first bundle of a namespace, and later ones only when approved", async () => {
    const [old, current, late] = await Promise.all(
      ["old", "current", "late"].map((name) => createSigner({ name })),
    );
    if (!old || !current || !late) throw new Error("no signers");
    const namespace = "keys";
    await registry.publish({ namespace, version: "1.0.0", signer: old });
    await registry.publish({ namespace, version: "2.0.0", signer: current });
    const first = await exportBundle(here, "keys/widget@all");
    await registry.publish({ namespace, version: "3.0.0", signer: late });
    const from = connectedSite(authority, registry);
    const second = await exportBundle(from, "keys/widget@all");

    const site = offlineSite();
    expect((await site.run("import", first)).stderr).toContain("2 archives");
    // The candidate is noted, so that it can be approved.
    const served = () =>
      [...site.snapshot()].filter(
        ([path]) => !path.includes("/candidates/") && !path.includes("3.0.0"),
      );
    const before = served();
    const refused = await site.run("import", second);
    expect(refused.stderr).toMatch(/keys\/widget 3\.0\.0: .*held back because/);
    expect(refused.status).toBe(1);
    expect(served()).toEqual(before);

    await decide(site, "approve", "keys/widget@3.0.0");
    expect((await site.run("import", second)).status).toBe(0);
  });
});
