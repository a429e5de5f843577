import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import {
  codeOf,
  eventually,
  listedIn,
  outcomeOf,
} from "../../scenes/provider-requests.ts";
import { registryRequestsFor } from "../../scenes/registry-requests.ts";
import { moduleHost, startOrigins } from "../../scenes/world.ts";

const platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];
const opentofu = "registry.opentofu.org";
const lax = "lax.example.com";
const open = "open.example.com";

const { registry, modules, ca } = await startOrigins();
const release = await registry.publish({
  type: "demo",
  version: "1.2.3",
  platforms,
  protocols: ["4.0", "5.2"],
  size: 20_000,
});
const urls = ["download_url", "shasums_url", "shasums_signature_url"] as const;
const signatures = "when-published";
const origin = { url: registry.url, ca };
const config = {
  origins: {
    "registry.terraform.io": origin,
    [opentofu]: { ...origin, signatures },
    [lax]: { ...origin, signatures },
    [open]: { ...origin, signatures: "off" },
    [moduleHost]: { url: modules.url, ca },
  },
  policy: {
    rules: [
      { match: `${moduleHost}/*/network/*`, action: "allow", minimumAge: "3d" },
    ],
  },
};
const mirror = await startMirror({ config });

describe("the provider registry façade", () => {
  it("lists versions with the origin's protocols and platforms", async () => {
    const answer = await registryRequestsFor(mirror, "demo").versions();
    expect(answer.json()).toEqual({
      id: "acme/demo",
      versions: [
        {
          version: "1.2.3",
          protocols: ["4.0", "5.2"],
          platforms: release.archives.map(({ os, arch }) => ({ os, arch })),
        },
      ],
      warnings: [],
    });
  });

  it("gives a package with the publisher's key and the mirror's URLs, which lead to the origin's bytes", async () => {
    const demo = registryRequestsFor(mirror, "demo");
    const { signer } = release;
    for (const { platform, os, arch, filename, ...one } of release.archives) {
      const found = await demo.document("1.2.3", platform);
      const protocols = ["4.0", "5.2"];
      expect(found).toMatchObject({
        ...{ protocols, os, arch, filename, shasum: one.sha256 },
      });
      expect(found.signing_keys.gpg_public_keys).toEqual([
        {
          ...{ key_id: signer.keyId, ascii_armor: signer.armoredPublicKey },
          ...{ trust_signature: "", source: signer.name, source_url: null },
        },
      ]);
      const [archive, sums, signature] = await Promise.all(
        urls.map((name) => demo.follow(found[name], "1.2.3", platform)),
      );
      expect(sums?.body.toString()).toBe(release.checksums);
      expect(signature?.body.equals(release.signature)).toBe(true);
      expect(archive?.body.equals(one.bytes)).toBe(true);
    }
  });

  it.each([
    ["9.9.9/download/linux/amd64", 404],
    ["1.2.3/download/plan9/mips", 404],
    ["1.2.3/terraform-provider-demo_1.2.4_SHA256SUMS", 404],
    ["1.2.3/upload/linux/amd64", 404],
    ["1.2/download/linux/amd64", 400],
    ["1.2.3/download/linux_x/amd64", 400],
  ])("has no %s: %i", async (path, status) => {
    const demo = registryRequestsFor(mirror, "demo");
    expect((await demo.get(path)).status).toBe(status);
  });

  it("leaves packages out until the size is known, then says h1, zh and size of what is stored", async () => {
    const type = "sized";
    const sized = await registry.publish({ type, version: "1.0.0", platforms });
    const ask = registryRequestsFor(mirror, type);
    const before = await ask.document("1.0.0");
    expect(before.packages).toBeUndefined();
    const { h1, sha256, bytes } = sized.archive("linux_amd64");
    await ask.follow(before.download_url, "1.0.0");
    const packages = await eventually(
      async () => (await ask.document("1.0.0")).packages,
      (known) => known?.linux_amd64?.hashes.length === 2,
    );
    expect(packages).toEqual({
      linux_amd64: { hashes: [`zh:${sha256}`, h1], package_size: bytes.length },
    });
    const other = await ask.document("1.0.0", "darwin_arm64");
    expect(other.packages).toBeUndefined();
  });
});

describe("the document of one version, for programs", () => {
  it("says of a provider what is known", async () => {
    const demo = registryRequestsFor(mirror, "demo");
    expect((await demo.get("1.2.3")).json()).toEqual({
      ...{ id: "acme/demo/1.2.3", namespace: "acme", name: "demo" },
      ...{ version: "1.2.3", protocols: ["4.0", "5.2"] },
    });
    expect((await demo.get("9.9.9")).status).toBe(404);
    expect((await demo.get("versionz")).status).toBe(400);
  });

  it("says of a module when it was published, where its registry does, and is of what clients may have alone", async () => {
    const published = "2024-02-03T04:05:06.000Z";
    const dates = { "1.0.0": published, "2.0.0": new Date() };
    for (const version of Object.keys(dates))
      modules.publish("acme/network/aws", version, "./network.zip");
    modules.answer("/v2/modules/acme/network/aws", {
      included: Object.entries(dates).map(([version, date]) => ({
        attributes: { version, "published-at": date },
      })),
    });
    modules.publish("acme/ageless/aws", "1.0.0", "./ageless.zip");
    const ask = (version: string, name = "network") =>
      mirror.get(`/v1/modules/${moduleHost}/acme/${name}/aws/${version}`);
    expect((await ask("1.0.0")).json()).toEqual({
      ...{ id: "acme/network/aws/1.0.0", namespace: "acme", name: "network" },
      ...{ provider: "aws", version: "1.0.0", published_at: published },
    });
    expect(outcomeOf(await ask("2.0.0"))).toBe("451 too-young");
    expect(outcomeOf(await ask("9.0.0", "ageless"))).toBe("404 not-found");
  });
});

it("service discovery names the services of the first origin, and below its path those of each", async () => {
  const first = "registry.terraform.io";
  for (const [base, of] of [
    ["", `/${first}`],
    [`registry/${opentofu}/`, ""],
  ]) {
    const place = `/${base}.well-known/terraform.json`;
    const answer = await mirror.get(place);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json()).toEqual({
      "providers.v1": `${mirror.url}${base}v1/providers${of}/`,
      "modules.v1": `${mirror.url}${base}v1/modules${of}/`,
    });
  }
  const none = await mirror.get("/registry/a_b/.well-known/terraform.json");
  expect(none.status).toBe(400);
});

describe("an unsigned release", () => {
  const unsigned = { signingKeys: [], signature: "unlisted" } as const;

  it("is given without keys where OpenTofu takes it so, and refused with the reason elsewhere", async () => {
    const type = "unsigned";
    await registry.publish({ type, version: "1.0.0", ...unsigned });
    const exempt = registryRequestsFor(mirror, type, opentofu);
    const found = await exempt.document("1.0.0");
    expect(found.signing_keys.gpg_public_keys).toEqual([]);
    const signature = await exempt.follow(found.shasums_signature_url, "1.0.0");
    expect([signature.status, signature.body.length]).toEqual([200, 0]);
    for (const hostname of [lax, open]) {
      const ask = registryRequestsFor(mirror, type, hostname);
      for (const path of ask.pathsOf("1.0.0")) {
        const answer = await ask.get(path);
        expect(outcomeOf(answer)).toBe("451 nothing-to-verify");
        expect(answer.body.toString()).toContain("network_mirror");
      }
      const provider = `${hostname}/acme/${type}`;
      const version = `/providers/${provider}/1.0.0.json`;
      expect((await mirror.get(version)).status).toBe(200);
    }
  });

  it("is waited for once what is known is out of date: its publisher may have signed it", async () => {
    const [type, version] = ["later", "1.0.0"];
    await registry.publish({ type, version, ...unsigned });
    const freshness = { versions: "1s" };
    const own = await startMirror({ config: { ...config, freshness } });
    const ask = registryRequestsFor(own, type, lax);
    expect(codeOf(await ask.package(version))).toBe("nothing-to-verify");
    await registry.publish({ type, version });
    await setTimeout(1_001);
    expect((await ask.package(version)).status).toBe(200);
    await own.stop();
  });

  it("is refused when it has keys and no signature; what has both is passed on to judge", async () => {
    const version = "1.0.0";
    await registry.publish({ type: "half", version, signature: "unlisted" });
    const half = registryRequestsFor(mirror, "half", open);
    const refused = await half.package(version);
    expect(outcomeOf(refused)).toBe("451 nothing-to-verify");
    const signed = await registry.publish({ type: "whole", version });
    const whole = registryRequestsFor(mirror, "whole", open);
    const found = await whole.document(version);
    const signature = await whole.follow(found.shasums_signature_url, version);
    expect(signature.body.equals(signed.signature)).toBe(true);
  });
});

it("lists offline what is stored, and gives it with its proof", async () => {
  const type = "shelf";
  for (const version of ["1.0.0", "2.0.0"])
    await registry.publish({ type, version });
  const ask = registryRequestsFor(mirror, type);
  const found = await ask.document("1.0.0");
  await ask.follow(found.download_url, "1.0.0");
  await ask.document("2.0.0");
  await mirror.stop();
  const { directory } = mirror;
  const offline = { ...config, offline: true };
  const alone = await startMirror({ config: offline, directory });
  const still = registryRequestsFor(alone, type);
  expect(listedIn(await still.versions())).toEqual(["1.0.0"]);
  const stored = await still.document("1.0.0");
  for (const name of urls)
    expect((await still.follow(stored[name], "1.0.0")).status).toBe(200);
});
