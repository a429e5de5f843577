import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { afterAll, describe, expect, it, vi } from "vitest";
import { siteOf } from "../mirror/bundles/bundles.ts";
import { findOnPath } from "../on-path.ts";
import { originsOf } from "../origins.ts";
import type { Release } from "../fakes/release.ts";
import { scratch } from "../running-mirror.ts";
import { startOrigin } from "../scenes/world.ts";
import { init, isSince, ownHashes, readLockFile } from "./clients.ts";
import { findTestedClients } from "./tested-clients.ts";
import { findFreePort, startServer } from "./servers.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const host = "registry.opentofu.org";
const address = `${host}/acme/widget`;
const platforms = ["linux_amd64", "darwin_arm64"];
/** With its tag. */
const versions = { "1.2.3": "1.2.3", "1.3.0+build.4": "1.3.0_build.4" };

const clients = (await findTestedClients()).filter(
  (client) => client.name === "tofu" && isSince(client, 10),
);
const missing = [
  ...["docker-registry", "oras"].filter((name) => !findOnPath(name)),
  ...(clients.length > 0 ? [] : ["OpenTofu 1.10 or later"]),
];
if (missing.length > 0) {
  const title = `installs from an OCI registry: there is no ${missing.join(", no ")}`;
  console.error(`NOT TESTED: ${title}.`);
  it.skip(title, () => undefined);
}

const { authority, registry, ca } = await startOrigin();
const releases = new Map<string, Release>();
for (const version of Object.keys(versions))
  releases.set(
    version,
    await registry.publish({ version, platforms, size: 20_000 }),
  );
const config = originsOf(authority, registry, {}, host);
const images = missing.length > 0 ? undefined : await startImageRegistry();
if (images !== undefined) await fillImageRegistry(images.name);
afterAll(() => images?.stop());

/** The registry of Debian, which keeps what it is sent as it is. */
async function startImageRegistry() {
  const directory = scratch("images");
  const issued = await authority.issue(["localhost"]);
  const certificate = join(directory, "site.pem");
  const key = join(directory, "key.pem");
  writeFileSync(certificate, issued.certificate);
  writeFileSync(key, issued.key);
  const port = await findFreePort();
  const file = join(directory, "config.yml");
  const storage = { filesystem: { rootdirectory: join(directory, "data") } };
  const http = { addr: `127.0.0.1:${port}`, tls: { certificate, key } };
  writeFileSync(file, stringify({ version: "0.1", storage, http }));
  const args = ["serve", file];
  const { stop } = await startServer(port, "docker-registry", args);
  return { name: `localhost:${port}`, stop };
}

/** As docs/air-gap.md says. */
async function fillImageRegistry(name: string): Promise<void> {
  const directory = join(scratch("oci"), "layouts.oci");
  const flags = platforms.flatMap((platform) => ["--platform", platform]);
  const specs = Object.keys(versions).map((one) => `${address}@${one}`);
  const site = siteOf(config);
  const ran = await site.run("export", "--to", directory, ...flags, ...specs);
  expect(ran.status, ran.stderr).toBe(0);
  for (const tag of Object.values(versions)) {
    const from = `${join(directory, address)}:${tag}`;
    const to = `${name}/providers/acme/widget:${tag}`;
    // It takes localhost for one without TLS.
    const tls = ["--to-plain-http=false", "--to-ca-file", ca];
    const args = ["cp", "--from-oci-layout", from, to, ...tls];
    await promisify(execFile)("oras", args);
  }
}

describe.each(missing.length > 0 ? [] : clients)(
  "$name $version with an OCI registry that was filled from an export",
  (client) => {
    it.each([...releases])(
      "installs %s, and locks what it locks behind the mirror",
      async (version, release) => {
        const cliConfig = `provider_installation {\n  oci_mirror {\n    repository_template = "${images?.name}/providers/$\{namespace}/$\{type}"\n    include = ["${host}/*/*"]\n  }\n}\n`;
        const required = { widget: { source: address, version } };
        const ran = await init(client, required, { cliConfig, caFile: ca });
        expect(ran.output).toContain("successfully initialized");
        const lock = (await readLockFile(ran.directory)).get(address);
        const hashes = ownHashes(client, release.archive("linux_amd64"));
        expect(lock).toMatchObject({ version, hashes });
      },
    );
  },
);
