import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { reconfigure } from "../scenes/provider-requests.ts";
import {
  directConfig,
  findClients,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("installs through a host block with a real client: none is on PATH", () =>
    undefined);

const address = "registry.terraform.io/acme/widget";
const platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];

let originCa: string;
let registry: Registry;
let release: Release;
let mirror: RunningMirror;
let config: ReturnType<typeof originsOf>;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  release = await registry.publish({
    version: "1.2.3",
    platforms,
    size: 400_000,
    content: "half",
  });
  config = originsOf(authority, registry);
  originCa = (config.origins["registry.terraform.io"] as { ca: string }).ca;
  mirror = await startMirror({ config });
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

/** From the origin itself, or through the mirror's façade. */
async function init(client: Client, from: "origin" | "mirror") {
  const directory = scratch("init");
  await writeConfiguration(directory, {
    widget: { source: address, version: "1.2.3" },
  });
  const facade = `${mirror.url}v1/providers/registry.terraform.io/`;
  const url = from === "origin" ? registry.providersUrl : facade;
  const ran = await runClient(client, ["init", "-no-color"], {
    directory,
    cliConfig: directConfig(url),
    caFile: from === "origin" ? originCa : mirror.caFile,
  });
  const lockFile =
    ran.status === 0
      ? readFileSync(`${directory}/.terraform.lock.hcl`, "utf8")
      : "";
  return { ...ran, directory, lockFile };
}

describe.each(clients)("$name $version behind a host block", (client) => {
  it("checks the publisher's signature itself and writes the lock file of a direct install", async () => {
    const direct = await init(client, "origin");
    const ours = await init(client, "mirror");

    const signed = new RegExp(
      `Installed (?:registry\\.terraform\\.io/)?acme/widget v1\\.2\\.3 \\([^)]*signed, key ID ${release.signer.keyId}\\)`,
    );
    expect(direct.output).toMatch(signed);
    expect(ours.output).toMatch(signed);
    expect(ours.lockFile).toBe(direct.lockFile);
    const locked = (await readLockFile(ours.directory)).get(address);
    expect(locked?.hashes.toSorted()).toEqual(
      [
        release.archive("linux_amd64").h1,
        ...release.archives.map(({ sha256 }) => `zh:${sha256}`),
      ].toSorted(),
    );
  });

  it("does so with the origin stopped, also after a restart of the mirror", async () => {
    const before = await init(client, "mirror");
    await registry.stop();
    try {
      const stopped = await init(client, "mirror");
      expect(stopped.output).toContain(`key ID ${release.signer.keyId}`);
      expect(stopped.lockFile).toBe(before.lockFile);
      await mirror.stop();
      const { directory } = mirror;
      mirror = await startMirror({ config, directory });
      const restarted = await init(client, "mirror");
      expect(restarted.output).toContain(`key ID ${release.signer.keyId}`);
      expect(restarted.lockFile).toBe(before.lockFile);
    } finally {
      await registry.restart();
    }
  });

  it("finds the default origin's providers under the mirror's own hostname", async () => {
    const directory = scratch("init");
    const own = `localhost:${new URL(mirror.url).port}/acme/widget`;
    await writeConfiguration(directory, { widget: { source: own } });
    const ran = await runClient(client, ["init", "-no-color"], {
      directory,
      cliConfig: "",
      caFile: mirror.caFile,
    });
    expect(ran.output).toContain(`key ID ${release.signer.keyId}`);
    expect((await readLockFile(directory)).get(own)?.version).toBe("1.2.3");
  });

  it("is refused what a rule denies", async () => {
    const rule = { match: address, action: "deny" };
    reconfigure(mirror, { policy: { rules: [rule] } });
    try {
      await expect
        .poll(async () => (await init(client, "mirror")).output, {
          timeout: 20_000,
        })
        .toMatch(/451/);
    } finally {
      reconfigure(mirror, { policy: {} });
    }
    await expect
      .poll(async () => (await init(client, "mirror")).status, {
        timeout: 20_000,
      })
      .toBe(0);
  });
});
