import { describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startLooseBucket } from "../../fakes/loose-bucket.ts";
import { startRegistry } from "../../fakes/registry.ts";
import type { Release } from "../../fakes/release.ts";
import { connectedSite } from "../../mirror/bundles/bundles.ts";
import { scratch } from "../../running-mirror.ts";
import { canBeOthers, user } from "../../scenes/other-user.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";
import { expectDocument } from "../documents.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { plantRecords } from "../../scenes/planted-records.ts";
import { loseRecord } from "../../store/stores.ts";

const platforms = ["darwin_arm64", "linux_amd64"];

const known = await signer("Known");
// Commands of root act as the owner of the store.
const scene = await TrustScene.start(canBeOthers ? { user } : {});

/** Two versions for two platforms, of which one archive is stored. */
async function fill(namespace: string): Promise<readonly Release[]> {
  const releases: Release[] = [];
  for (const version of ["1.0.0", "1.1.0"]) {
    const options = { platforms };
    releases.push(await scene.publish(namespace, version, known, options));
    expect((await scene.ask(namespace).version(version)).status).toBe(200);
  }
  const answer = await scene.ask(namespace).archive("1.0.0");
  expect([answer.status, answer.complete]).toEqual([200, true]);
  return releases;
}

interface Listed {
  readonly version: string;
  readonly platform: string;
  readonly stored: boolean;
  readonly size: number | null;
  readonly firstSeen: string;
  readonly lastUsed: string | null;
}

const command = (...args: readonly string[]) =>
  runCommand(scene.mirror, ...args);

async function list(...args: readonly string[]) {
  const { status, stdout, stderr } = await command("list", "--json", ...args);
  const document = expectDocument("list", stdout) as {
    packages: readonly Listed[];
    problems: readonly { code: string; message: string }[];
  };
  return { status, stderr, ...document };
}

describe("provender list", () => {
  it("says of each package what is recorded, and whether its archive is stored", async () => {
    const before = Date.now();
    const [first] = await fill("listed");
    const { status, packages } = await list("listed/thing");
    expect(status).toBe(0);
    const archive = first?.archive("linux_amd64");
    const names = packages.map(
      ({ version, platform }) => `${version} ${platform}`,
    );
    expect(names).toEqual([
      ...platforms.map((platform) => `1.1.0 ${platform}`),
      ...platforms.map((platform) => `1.0.0 ${platform}`),
    ]);
    expect(packages.filter(({ stored }) => stored)).toEqual([
      expect.objectContaining({
        provider: "registry.terraform.io/listed/thing",
        version: "1.0.0",
        platform: "linux_amd64",
        sha256: archive?.sha256,
        size: archive?.bytes.length,
        signedBy: known.fingerprint,
      }),
    ]);
    for (const { stored, size, firstSeen, lastUsed } of packages) {
      expect(Date.parse(firstSeen)).toBeGreaterThanOrEqual(before);
      if (stored) expect(Date.parse(lastUsed ?? "")).toBeGreaterThan(before);
      else expect([size, lastUsed]).toEqual([null, null]);
    }
  });

  it("lists what a SPEC names, and all without one, in a table too", async () => {
    await fill("chosen");
    const versions = async (spec: string) =>
      (await list(spec)).packages.map(({ version }) => version);
    expect(await versions("chosen/thing@< 1.1.0")).toEqual(["1.0.0", "1.0.0"]);
    expect(await versions("chosen/thing@latest:1")).toEqual(["1.1.0", "1.1.0"]);
    expect(await versions("chosen/other")).toEqual([]);
    const each = await command("list");
    expect(each.stdout).toMatch(
      /\/chosen\/thing +2 +1\.1\.0 +1 of 4 +[\d.]+ \w+ +\d{4}-\S+\n/,
    );
    const { stdout } = await command("list", "--all");
    const row = new RegExp(
      `registry\\.terraform\\.io/chosen/thing +1\\.0\\.0 +linux_amd64 +[\\d.]+ \\w+ .* ${known.fingerprint}\\n`,
    );
    expect(stdout).toMatch(row);
    expect(stdout).toMatch(/ 1\.1\.0 +linux_amd64 +listed /);
    expect(stdout).toMatch(/\n\d+ packages, \d+ of them stored \(/);
    expect((await command("list", "not a spec")).status).toBe(2);
  });

  it("names a damaged record, lists the others, and then nothing is forgotten", async () => {
    await fill("damaged");
    const layout = layOutStore(scene.mirror.directory);
    const provider = ["registry.terraform.io", "damaged", "thing"];
    const key = ["releases", ...provider, "1.1.0"] as const;
    const putBack = loseRecord(layout, key);
    plantRecords(layout.directory, [[key, {}]]);
    const listed = await list("damaged/thing");
    const purged = await command("prune", "damaged/thing");
    loseRecord(layout, key);
    putBack();
    expect(listed.status).toBe(1);
    expect(listed.packages).toHaveLength(platforms.length);
    expect(listed.problems).toMatchObject([{ code: "record-unreadable" }]);
    expect(listed.stderr).toContain("damaged/thing/1.1.0");
    expect([purged.status, purged.stdout]).toEqual([1, ""]);
    expect((await list("damaged/thing")).packages).toContainEqual(
      expect.objectContaining({ stored: true }),
    );
  });
});

describe("provender prune SPEC", () => {
  it("has the daemon fetch again what it forgets, and nothing of what was seen or decided changes", async () => {
    const [release] = await fill("purged");
    const trust = await scene.trust("list", "--json");
    const archive = release?.archive("linux_amd64");
    const { status, stdout } = await command("prune", "purged/thing", "--json");
    expect(status).toBe(0);
    expect(expectDocument("prune", stdout)).toMatchObject({
      removed: [{ name: archive?.filename, sha256: archive?.sha256 }],
      freed: archive?.bytes.length,
    });
    expect((await list("purged/thing")).packages).toHaveLength(4);
    const fetched = scene.registry.requests.count("archive");
    const again = await scene.ask("purged").archive("1.0.0");
    expect([again.status, again.body]).toEqual([200, archive?.bytes]);
    expect(scene.registry.requests.count("archive")).toBe(fetched + 1);
    expect(await scene.trust("list", "--json")).toBe(trust);
  });

  it("forgets what is in the bucket, too, so that it does not come back from there", async () => {
    const authority = await createAuthority();
    const registry = await startRegistry({ authority });
    const bucket = await startLooseBucket();
    const release = await registry.publish({ version: "1.0.0" });
    const { settings: s3 } = bucket;
    const storage = { directory: scratch("replica"), s3 };
    const listen = { tls: "off" };
    const site = connectedSite(authority, registry, {
      config: { storage, listen },
    });
    const fetch = () =>
      site.run("prefetch", "--platform", "linux_amd64", "acme/widget");
    const shared = () =>
      [...bucket.objects.keys()].filter((key) =>
        key.endsWith(release.archive("linux_amd64").sha256),
      );
    expect((await fetch()).status).toBe(0);
    expect(shared()).not.toEqual([]);
    const purged = await site.run("prune", "acme/widget");
    expect([purged.status, purged.stderr]).toEqual([0, ""]);
    expect(shared().filter((key) => key.startsWith("blobs/"))).toEqual([]);
    expect((await fetch()).status).toBe(0);
    expect(registry.requests.count("archive")).toBe(2);
    await Promise.all([registry.stop(), bucket.stop()]);
  });

  it.each(["unheard/of", "refused/thing@1.1.0", "refused/thing@> 2"])(
    "has status 1 for what is not stored: %s",
    async (spec) => {
      await fill("refused");
      const run = await command("prune", spec);
      expect([run.status, run.stdout]).toEqual([1, ""]);
      expect(run.stderr).toContain(`No archive of ${spec} is stored`);
    },
  );
});
