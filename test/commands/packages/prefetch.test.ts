import { randomBytes } from "node:crypto";
import { globSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { barrier } from "../../fakes/barrier.ts";
import { alteredByte, onlyFor, status } from "../../fakes/faults.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { makeDirectory, makeStorage } from "../storage.ts";
import { prefetching } from "./prefetching.ts";
import { moduleHost, startOrigins } from "../../scenes/world.ts";

const linux = ["--platform", "linux_amd64"];
const both = [...linux, "--platform", "darwin_arm64"];

const { registry, modules, config } = await startOrigins();
for (const version of ["1.0.0", "1.1.0", "2.0.0", "2.1.0-rc1"])
  await registry.publish({ version, platforms: ["linux_amd64"] });
const release = await registry.publish({
  type: "gadget",
  version: "1.2.3",
  platforms: ["linux_amd64", "darwin_arm64"],
  size: 400_000,
});
await registry.publish({
  ...{ type: "wheel", version: "3.0.0", size: 400_000 },
  platforms: ["linux_amd64", "darwin_arm64"],
});

beforeEach(() => {
  registry.heal();
  registry.requests.clear();
});

const prefetch = prefetching(config);

/** Locks the gadget. */
function lockFile(...hashes: readonly string[]): string {
  const name = ".terraform.lock.hcl";
  const list = hashes.map((hash) => `    "${hash}",\n`).join("");
  const text = `\nprovider "registry.terraform.io/acme/gadget" {\n  version = "1.2.3"\n  hashes = [\n${list}  ]\n}\n`;
  return join(makeDirectory({ [name]: text }), name);
}

describe("prefetch by SPEC", () => {
  it.each([
    ["acme/widget@latest:2", ["widget 1.1.0", "widget 2.0.0"]],
    ["acme/widget@~> 1.0", ["widget 1.0.0", "widget 1.1.0"]],
    ["acme/widget@2.1.0-rc1", ["widget 2.1.0-rc1"]],
  ])("fetches %s", async (spec, expected) => {
    const { status: exit, outcomes } = await prefetch([...linux, spec]);
    expect(outcomes).toEqual(
      expected.map((one) => `${one} linux_amd64 fetched`),
    );
    expect(exit).toBe(0);
  });

  it("passes over platforms that one of many versions is not made for, but not those of the one that was named", async () => {
    const flags = [...linux, "--platform", "windows_386"];
    const many = await prefetch([...flags, "acme/widget@~> 1.0"]);
    expect(many.outcomes).toContain("widget 1.0.0 windows_386 absent");
    expect(many.status).toBe(0);
    const named = await prefetch([...flags, "acme/widget@1.0.0"]);
    expect(named.stderr).toMatch(
      /widget 1\.0\.0 windows_386: .* does not exist/,
    );
    expect(named.status).toBe(1);
  });
});

describe("prefetch by lock file", () => {
  it("fails a package that the file does not list, and says what it lists and what was found", async () => {
    const [linuxArchive] = release.archives;
    const file = lockFile("h1:other=", `zh:${linuxArchive?.sha256}`);
    const run = await prefetch([...both, "--lock-file", file]);
    expect(run.outcomes).toEqual([
      "gadget 1.2.3 darwin_arm64 failed",
      "gadget 1.2.3 linux_amd64 fetched",
    ]);
    const darwin = release.archive("darwin_arm64");
    expect(run.stderr).toContain(`${file}:2 locks (it lists h1:other=, zh:`);
    expect(run.stderr).toContain(`${darwin.h1}, zh:${darwin.sha256}`);
    expect(run.status).toBe(1);
  });

  it("fetches nothing when the file's hashes of archives tell already", async () => {
    const file = lockFile("zh:0000");
    const run = await prefetch([...linux, "--lock-file", file]);
    expect(run.codes).toEqual(["lock-mismatch"]);
    expect(registry.requests.count("archive")).toBe(0);
    expect(run.status).toBe(1);
  });
});

describe("prefetch when something is wrong", () => {
  it("says of no archive that it is stored which left again for others", async () => {
    const text = randomBytes(450_000).toString("hex");
    const bytes = await tarGz([["data.txt", text]]);
    const archive = modules.serve("/a.tar.gz", bytes);
    modules.publish("acme/large/aws", "1.0.0", archive);
    const limited = { maxSize: "900KiB", minFree: 0 };
    const storage = makeStorage({ ...config, storage: limited });
    const spec = ["--module", `${moduleHost}/acme/large/aws`];
    const alone = await prefetch(spec, { storage });
    const name = `${moduleHost}/acme/large/aws 1.0.0`;
    expect([alone.status, ...alone.modules]).toEqual([0, `${name} fetched`]);
    const specs = ["acme/gadget", "acme/wheel"];
    const run = await prefetch([...both, ...specs, ...spec], { storage });
    expect(run.modules).toEqual([`${name} evicted`]);
    for (const one of [...run.modules, ...run.outcomes])
      if (one.endsWith("evicted"))
        expect(run.stderr).toContain(one.replace("evicted", "made room for"));
    expect(run.stderr).toContain('raise "storage.maxSize"');
    expect(run.status).toBe(1);
    const files = globSync(`${storage.directory}/blobs/**`);
    const archives = files.filter((file) => statSync(file).size > 400_000);
    const fetched = run.outcomes.filter((one) => one.endsWith("fetched"));
    expect(fetched).toHaveLength(archives.length);
  });

  it("names each bad package and fetches the others", async () => {
    registry.script("archive", onlyFor(/gadget/, alteredByte(1000)));
    registry.script("package", onlyFor(/wheel/, status(404)));
    const specs = ["gadget", "wheel", "widget", "nothing"];
    const run = await prefetch([
      ...linux,
      ...specs.map((one) => `acme/${one}`),
    ]);
    expect(run.outcomes).toEqual([
      "gadget 1.2.3 linux_amd64 failed",
      "widget 2.0.0 linux_amd64 fetched",
    ]);
    expect(run.stderr).toMatch(/gadget.* is refused \(expected SHA-256/);
    expect(run.stderr).toMatch(/acme\/wheel .*no release of it can be had/);
    expect(run.stderr).toMatch(/acme\/nothing does not exist/);
    expect(run.stderr).toMatch(/1 fetched .*, 3 failed\.$/m);
    expect(run.stderr).not.toMatch(/^\s+at /m);
    expect(run.status).toBe(1);
    expect(readdirSync(join(run.storage.directory, "staging"))).toEqual([]);
  });

  it("ends in order on Ctrl-C, and goes on where it was", async () => {
    const stopping = barrier();
    registry.script("archive", onlyFor(/gadget/, stopping.afterBytes(200_000)));
    const wheel = registry.requests.reach("archive", 3);
    const args = [...linux, "acme/gadget", "acme/wheel", "acme/widget"];
    const storage = makeStorage(config);
    const first = await prefetch(args, {
      storage,
      interruptAfter: Promise.all([wheel, stopping.reached]),
    });
    stopping.release();
    expect(first.stderr).toMatch(
      /^Interrupted with \d of 3 packages not stored: run the same command again/m,
    );
    expect(first.stderr).not.toMatch(/^\s+at |^\{/m);
    expect(first.interrupted).toBe(true);
    expect(first.outcomes).toContain("gadget 1.2.3 linux_amd64 interrupted");
    expect(first.status).toBe(130);
    expect(readdirSync(join(storage.directory, "staging"))).toEqual([]);

    registry.heal();
    registry.requests.clear();
    const second = await prefetch(args, { storage });
    expect(second.status).toBe(0);
    const stored = first.outcomes.filter((one) => one.endsWith("fetched"));
    // An archive may be in the store although the interruption came before its row.
    const asked = registry.requests.count("archive");
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(3 - stored.length);
  });
});
