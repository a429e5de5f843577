import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { createSigner } from "../fakes/signing.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  directConfig,
  findClients,
  networkMirrorConfig,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("takes what clients take: none is on PATH", () => undefined);

let registry: Registry;
let mirror: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  const origins = originsOf(authority, registry, {
    signatures: "when-published",
  });
  mirror = await startMirror({
    config: { ...origins, freshness: { versions: "0" } },
  });
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

const protocols = {
  "the network mirror": () => networkMirrorConfig(`${mirror.url}providers/`),
  "a host block": () =>
    directConfig(`${mirror.url}v1/providers/registry.terraform.io/`),
} as const;

/** In a new directory, with the lock file of another one where there is one. */
async function init(
  client: Client,
  type: string,
  cliConfig: string,
  locked?: string,
) {
  const directory = scratch("init");
  const source = `registry.terraform.io/acme/${type}`;
  await writeConfiguration(directory, { [type]: { source, version: "1.0.0" } });
  const lockFile = join(directory, ".terraform.lock.hcl");
  if (locked !== undefined)
    copyFileSync(join(locked, ".terraform.lock.hcl"), lockFile);
  const options = { directory, cliConfig, caFile: mirror.caFile };
  const ran = await runClient(client, ["init", "-no-color"], options);
  return { ...ran, directory, lockFile };
}

describe.each(clients)("$name $version", (client) => {
  it("keeps its lock file when a publisher adds keys to what was unsigned", async () => {
    const type = `adds-${client.name}-${client.version.replaceAll(".", "-")}`;
    const signer = await createSigner();
    const added = await createSigner();
    const release = await registry.publish({
      ...{ type, version: "1.0.0", signer, signingKeys: [] },
    });
    const mirrored = protocols["the network mirror"]();
    const before = await init(client, type, mirrored);
    expect(before.output).toContain("successfully initialized");
    registry.offer(release, { signingKeys: [signer, added] });
    await registry.publish({
      ...{ type, version: "1.1.0", signer: added },
      signingKeys: [signer, added],
    });
    for (const [name, makeConfig] of Object.entries(protocols)) {
      const after = await init(client, type, makeConfig(), before.directory);
      expect([name, after.output]).toEqual([
        name,
        expect.stringContaining("successfully initialized"),
      ]);
      for (const line of readFileSync(before.lockFile, "utf8").split("\n"))
        expect(readFileSync(after.lockFile, "utf8")).toContain(line);
    }
  });

  it.each(Object.keys(protocols) as (keyof typeof protocols)[])(
    "installs what its publisher named otherwise, by %s",
    async (protocol) => {
      const type = `named-${protocol.length}-${client.name}-${client.version.replaceAll(".", "-")}`;
      await registry.publish({
        ...{ type, version: "1.0.0" },
        nameArchive: (platform) =>
          `terraform-provider-${type}-v1.0.0-${platform.replace("_", "-")}-bin.zip`,
      });
      const ran = await init(client, type, protocols[protocol]());
      expect(ran.output).toContain("successfully initialized");
    },
  );

  it.each(["", "v1/providers/", "provider/", "browse/"])(
    "stops with the status of a wrong url at a network mirror at /%s",
    async (base) => {
      const type = "base";
      await registry.publish({ type, version: "1.0.0" });
      const config = networkMirrorConfig(`${mirror.url}${base}`);
      const ran = await init(client, type, config);
      expect(ran.status).toBe(1);
      // Clients print the status of a list, and not its reason phrase or body.
      expect(ran.output).toMatch(/unsuccessful status (?:code )?400/);
    },
  );
});
