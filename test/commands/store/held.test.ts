import { existsSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { startLooseBucket } from "../../fakes/loose-bucket.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import type { Release } from "../../fakes/release.ts";
import { connectedSite } from "../../mirror/bundles/bundles.ts";
import { blobOf, scratch, startMirror } from "../../running-mirror.ts";
import { getArchive, makeModuleScene } from "../../scenes/module-scene.ts";
import { canBeOthers, user } from "../../scenes/other-user.ts";
import { plantRecords } from "../../scenes/planted-records.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import { signer, startTrustScene } from "../../scenes/trust-scene.ts";
import { startOrigin } from "../../scenes/world.ts";
import { loseRecord } from "../../store/stores.ts";
import { expectDocument } from "../documents.ts";

const platforms = ["darwin_arm64", "linux_amd64"];

const known = await signer("Known");
// Commands of root act as the owner of the store.
const scene = await startTrustScene(canBeOthers ? { user } : {});

/** Two versions for two platforms, of which one archive is stored. */
async function fill(namespace: string): Promise<Release> {
  const publish = async (version: string) => {
    const release = await scene.publish(namespace, version, known, {
      platforms,
    });
    expect((await scene.ask(namespace).version(version)).status).toBe(200);
    return release;
  };
  const first = await publish("1.0.0");
  await publish("1.1.0");
  expect(await scene.ask(namespace).delivery("1.0.0")).toBe("200");
  return first;
}

type Row = Readonly<Record<string, string | boolean | null>>;
interface Listed {
  readonly packages: readonly Row[];
  readonly modules: readonly Row[];
  readonly problems: readonly Row[];
}

const command = (...args: readonly string[]) =>
  runCommand(scene.mirror, ...args);

async function list(spec: string, of = scene.mirror) {
  const run = await runCommand(of, "list", "--json", spec);
  const document = expectDocument("list", run.stdout) as Listed;
  return { status: run.status, stderr: run.stderr, ...document };
}

describe("provender list", () => {
  it("says of each package what is recorded, and whether its archive is on the disk, whatever is noted of it", async () => {
    const before = Date.now();
    const first = await fill("listed");
    const { status, packages } = await list("listed/thing");
    expect(status).toBe(0);
    const { sha256, bytes } = first.archive("linux_amd64");
    expect(
      packages.map(({ version, platform }) => `${version} ${platform}`),
    ).toEqual(
      ["1.1.0", "1.0.0"].flatMap((version) =>
        platforms.map((platform) => `${version} ${platform}`),
      ),
    );
    expect(packages.filter(({ stored }) => stored)).toMatchObject([
      {
        provider: "registry.terraform.io/listed/thing",
        ...{ version: "1.0.0", platform: "linux_amd64" },
        ...{ sha256, size: bytes.length, signedBy: known.fingerprint },
      },
    ]);
    const moment = (text: unknown) => Date.parse(String(text));
    for (const { stored, size, firstSeen, lastUsed } of packages) {
      expect(moment(firstSeen)).toBeGreaterThanOrEqual(before);
      if (stored) expect(moment(lastUsed)).toBeGreaterThan(before);
      else expect([size, lastUsed]).toEqual([null, null]);
    }
    const path = blobOf(scene.mirror, sha256);
    await expect.poll(() => existsSync(path)).toBe(true);
    rmSync(path);
    const removed = await list("listed/thing");
    expect(removed.packages.some(({ stored }) => stored)).toBe(false);
    const each = await command("list", "listed/thing");
    expect(each.stdout).toMatch(
      /\/listed\/thing +2 +1\.1\.0 +0 of 4 +0 B +-\n/,
    );
  });

  it("lists what a SPEC names, and all without one, in a table too", async () => {
    await fill("chosen");
    for (const [spec, ...versions] of [
      ["chosen/thing@< 1.1.0", "1.0.0", "1.0.0"],
      ["chosen/thing@latest:1", "1.1.0", "1.1.0"],
      ["chosen/other"],
    ] as const)
      expect((await list(spec)).packages.map((one) => one.version)).toEqual(
        versions,
      );
    const each = await command("list");
    expect(each.stdout).toMatch(
      /\/chosen\/thing +2 +1\.1\.0 +1 of 4 +[\d.]+ \w+ +\d{4}-\S+\n/,
    );
    const { stdout } = await command("list", "--all");
    expect(stdout).toMatch(
      /\/chosen\/thing +1\.0\.0 +linux_amd64 +[\d.]+ \w+ .* [\dA-F]{40}\n/,
    );
    expect(stdout).toMatch(/ 1\.1\.0 +linux_amd64 +listed /);
    expect(stdout).toMatch(/\n\d+ packages, \d+ of them stored \(/);
  });

  it("names a damaged record, lists the others, and then nothing is forgotten", async () => {
    await fill("damaged");
    const layout = layOutStore(scene.mirror.directory);
    const provider = ["registry.terraform.io", "damaged", "thing"];
    const key = ["releases", ...provider, "1.1.0"] as const;
    const putBack = loseRecord(layout, key);
    plantRecords(layout.directory, [[key, {}]]);
    const listed = await list("damaged/thing");
    const pruned = await command("prune", "damaged/thing");
    loseRecord(layout, key);
    putBack();
    expect(listed.status).toBe(1);
    expect(listed.packages).toHaveLength(platforms.length);
    expect(listed.problems).toMatchObject([{ code: "record-unreadable" }]);
    expect(listed.stderr).toContain("damaged/thing/1.1.0");
    expect([pruned.status, pruned.stdout]).toEqual([1, ""]);
    expect((await list("damaged/thing")).packages).toContainEqual(
      expect.objectContaining({ stored: true }),
    );
  });
});

describe("provender prune SPEC", () => {
  it("has the daemon fetch again what it forgets, and nothing of what was seen or decided changes", async () => {
    const first = await fill("pruned");
    const trust = await scene.trust("list", "--json");
    const { filename, sha256, bytes } = first.archive("linux_amd64");
    const { status, stdout } = await command("prune", "pruned/thing", "--json");
    expect(status).toBe(0);
    expect(expectDocument("prune", stdout)).toMatchObject({
      ...{ removed: [{ name: filename, sha256 }], freed: bytes.length },
    });
    expect((await list("pruned/thing")).packages).toHaveLength(4);
    const fetched = scene.registry.requests.count("archive");
    const again = await scene.ask("pruned").archive("1.0.0");
    expect([again.status, again.body.equals(bytes)]).toEqual([200, true]);
    expect(scene.registry.requests.count("archive")).toBe(fetched + 1);
    expect(await scene.trust("list", "--json")).toBe(trust);
  });

  it("forgets what is in the bucket, too, so that it does not come back from there", async () => {
    const { authority, registry } = await startOrigin();
    const bucket = await startLooseBucket();
    const release = await registry.publish({ version: "1.0.0" });
    const { sha256 } = release.archive("linux_amd64");
    const storage = { directory: scratch("replica"), s3: bucket.settings };
    const config = { storage, listen: { tls: "off" } };
    const site = connectedSite(authority, registry, config);
    const fetch = () =>
      site.run("prefetch", "--platform", "linux_amd64", "acme/widget");
    const shared = () =>
      [...bucket.objects.keys()].filter(
        (key) => key.startsWith("blobs/") && key.endsWith(sha256),
      );
    expect((await fetch()).status).toBe(0);
    expect(shared()).not.toEqual([]);
    const pruned = await site.run("prune", "acme/widget");
    expect([pruned.status, pruned.stderr]).toEqual([0, ""]);
    expect(shared()).toEqual([]);
    expect((await fetch()).status).toBe(0);
    expect(registry.requests.count("archive")).toBe(2);
    bucket.stop();
  });

  it("has status 1 for what is not stored", async () => {
    await fill("refused");
    for (const spec of ["unheard/of", "refused/thing@1.1.0"]) {
      const run = await command("prune", spec);
      expect([run.status, run.stdout]).toEqual([1, ""]);
      expect(run.stderr).toContain(`No archive of ${spec} is stored`);
    }
  });
});

it("what is held of modules is listed and pruned likewise, and fetched again it has to be what is pinned", async () => {
  const modules = await makeModuleScene();
  const mirror = await startMirror({ config: modules.configOf() });
  const name = "registry.terraform.io/acme/held/aws";
  const bytes = await tarGz([["main.tf", "# held"]]);
  const url = modules.origin.serve("/files/held.tar.gz", bytes);
  modules.origin.publish("acme/held/aws", "1.0.0", url);
  // 1.1.0 is for clients alone.
  const digest = "a".repeat(40);
  const body = {
    pinned: { digest, at: "2026-01-01T00:00:00.000Z" },
    evidence: [{ digest, commit: digest, foreign: "it has submodules" }],
  };
  plantRecords(mirror.directory, [
    [["module_pins", ...name.split("/"), "1.1.0"], body],
  ]);
  expect((await getArchive(mirror, "held")).body.equals(bytes)).toBe(true);

  expect(await list(name, mirror)).toMatchObject({
    packages: [],
    modules: [
      { version: "1.1.0", sha256: null, stored: false, size: null },
      { version: "1.0.0", stored: true, size: bytes.length, commit: null },
    ],
  });
  const older = await list(`${name}@< 1.1.0`, mirror);
  expect(older.modules.map(({ version }) => version)).toEqual(["1.0.0"]);
  const each = await runCommand(mirror, "list");
  expect(each.stdout).toMatch(/held\/aws +2 +1\.1\.0 +1 of 2 +\S+ \w+ /);
  const { stdout } = await runCommand(mirror, "list", "--all", name);
  expect(stdout).toMatch(/held\/aws +1\.1\.0 +by clients +-/);
  expect(stdout).toContain("2 versions of modules, 1 of them stored (");

  const pruned = await runCommand(mirror, "prune", "--json", name);
  expect([pruned.status, pruned.stderr]).toEqual([0, ""]);
  expect(expectDocument("prune", pruned.stdout)).toMatchObject({
    removed: [{ name: `${name} 1.0.0`, because: "named" }],
    freed: bytes.length,
  });
  const again = await getArchive(mirror, "held");
  expect([again.status, again.body.equals(bytes)]).toEqual([200, true]);
  expect((await runCommand(mirror, "prune", name)).status).toBe(0);
  const other = await tarGz([["main.tf", "# other"]]);
  modules.origin.serve("/files/held.tar.gz", other);
  expect((await getArchive(mirror, "held")).status).toBe(451);
});
