import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { tarGz } from "../fakes/module-archive.ts";
import { issueToken } from "../client-token.ts";
import { findOnPath } from "../on-path.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import { makeModuleScene } from "../scenes/module-scene.ts";
import {
  defaultHosts,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
} from "./clients.ts";
import { findTestedClients } from "./tested-clients.ts";
import { startOrigin } from "../scenes/world.ts";

vi.setConfig({ testTimeout: 300_000 });

const terragrunt = findOnPath("terragrunt", "init of many units");
if (terragrunt === undefined)
  it.skip("runs init of many units: there is no terragrunt", () => undefined);
const found = terragrunt === undefined ? [] : await findTestedClients();
/** The first of each name. */
const clients = ["terraform", "tofu"].flatMap((name) =>
  found.filter((client) => client.name === name).slice(0, 1),
);

const token = issueToken("units");
const unitCount = 20;
const types = ["alpha", "beta", "gamma", "delta", "epsilon"];

const { registry, ca } = await startOrigin();
for (const type of types)
  await registry.publish({ type, version: "1.0.0", size: 200_000 });
const hosts = Object.values(defaultHosts);
const origin = { url: registry.url, ca };
const config = {
  origins: Object.fromEntries(hosts.map((host) => [host, origin])),
};

/** Each requires two of the providers, so that each is required by eight. */
async function makeUnits(
  hostname: string,
): Promise<readonly [string, readonly string[]]> {
  const root = scratch("units");
  const units: string[] = [];
  for (let unit = 0; unit < unitCount; unit++) {
    const directory = join(root, `unit-${unit}`);
    mkdirSync(directory);
    const required = [0, 1].map((more) => {
      const type = types[(unit + more) % types.length] ?? "";
      const source = `${hostname}/acme/${type}`;
      return [type, { source, version: "1.0.0" }] as const;
    });
    await writeConfiguration(directory, Object.fromEntries(required));
    writeFileSync(join(directory, "terragrunt.hcl"), "");
    units.push(directory);
  }
  return [root, units];
}

describe.each(clients)("terragrunt with $name $version", (client) => {
  it("takes modules of tfr:/// from the mirror, with a token", async () => {
    const scene = await makeModuleScene();
    const module = await tarGz([["main.tf", 'output "a" { value = "b" }\n']]);
    const url = scene.origin.serve("/network.tar.gz", module);
    scene.origin.publish("acme/network/aws", "1.0.0", url);
    const auth = { tokens: [token.configured] };
    const mirror = await startMirror({ config: scene.configOf({ auth }) });
    const directory = scratch("unit");
    const source = "tfr:///acme/network/aws?version=1.0.0";
    writeFileSync(
      join(directory, "terragrunt.hcl"),
      `terraform {\n  source = "${source}"\n}\n`,
    );
    const ran = await runClient(
      { ...client, binary: terragrunt ?? "" },
      ["init", "--non-interactive"],
      {
        ...{ directory, cliConfig: "", caFile: mirror.caFile },
        env: {
          TG_TF_PATH: client.binary,
          TG_TF_DEFAULT_REGISTRY_HOST: new URL(mirror.url).host,
          TG_TF_REGISTRY_TOKEN: token.token,
        },
      },
    );
    expect(ran.status, ran.output.slice(-3_000)).toBe(0);
    expect(scene.origin.count("/network.tar.gz")).toBe(1);
  });

  it(`runs init of ${unitCount} units with its provider cache, and the origin sends each package once`, async () => {
    const mirror = await startMirror({ config });
    registry.requests.clear();
    const [root, units] = await makeUnits(defaultHosts[client.name]);
    const binary = terragrunt ?? "";
    const ran = await runClient(
      { ...client, binary },
      ["run", "--all", "--non-interactive", "init"],
      {
        directory: root,
        cliConfig: networkMirrorConfig(`${mirror.url}providers/`),
        caFile: mirror.caFile,
        env: { TG_PROVIDER_CACHE: "1", TG_TF_PATH: client.binary },
      },
    );
    expect(ran.status, ran.output.slice(-3_000)).toBe(0);
    for (const unit of units) expect((await readLockFile(unit)).size).toBe(2);
    expect(registry.requests.count("archive")).toBe(types.length);
    const cache = join(root, ".home", ".cache", "terragrunt", "providers");
    expect(existsSync(cache)).toBe(true);
  });
});
