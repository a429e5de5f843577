import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../running-command.ts";
import { scratch } from "../running-mirror.ts";
import {
  directConfig,
  networkMirrorConfig,
  runClient,
  writeConfiguration,
  type RequiredProviders,
} from "./clients.ts";
import { findTestedClients } from "./tested-clients.ts";
import { startWorld } from "../scenes/world.ts";

const clients = await findTestedClients();

const platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];
const flags = platforms.flatMap((name) => ["--platform", name]);
const providersLock = ["providers", "lock"].concat(
  platforms.map((name) => `-platform=${name}`),
);
const types = ["alpha", "beta", "gamma"];
const providers: RequiredProviders = Object.fromEntries(
  types.map((type) => [
    type,
    {
      source: `registry.terraform.io/acme/${type}`,
      version: ">= 1.2.0, ~> 1.2, != 1.2.9",
    },
  ]),
);

const { registry, ca, mirror } = await startWorld();
for (const type of types)
  for (const version of ["1.2.3", "1.3.0", "2.0.0"])
    await registry.publish({
      type,
      version,
      platforms: [...platforms, "linux_arm64"],
      size: 20_000,
      editChecksums: (text) =>
        `${text}${"ab".repeat(32)}  terraform-provider-${type}_${version}_manifest.json\n${"cd".repeat(32)}  LICENSE.txt\n`,
    });

function lock(...args: string[]) {
  const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
  return runCommand(["lock", ...from, ...flags, ...args]);
}

describe.each(clients)("lock for $name $version", (client) => {
  it("completes a file of one platform exactly as providers lock does", async () => {
    const directory = scratch("root");
    await writeConfiguration(directory, providers);
    const read = () =>
      readFileSync(join(directory, ".terraform.lock.hcl"), "utf8");
    const direct = (...args: string[]) => {
      const cliConfig = directConfig(registry.providersUrl);
      return runClient(client, args, { directory, caFile: ca, cliConfig });
    };
    expect((await direct("init")).output).toContain("successfully initialized");
    const before = read();

    const check = await lock("--check", directory);
    expect(check.status).toBe(1);
    expect(check.stderr).toMatch(/acme\/alpha 1\.3\.0 lacks 2 hashes: h1:/);
    expect(read()).toBe(before);

    expect((await lock(directory)).status).toBe(0);
    const ours = read();
    expect(ours).not.toBe(before);
    expect((await lock("--check", directory)).status).toBe(0);

    const again = await direct(...providersLock);
    expect(again.output).toContain("found no need for changes");
    expect(read()).toBe(ours);

    const cliConfig = networkMirrorConfig(`${mirror.url}providers/`);
    const options = { directory, caFile: mirror.caFile, cliConfig };
    const args = ["init", "-lockfile=readonly"];
    const readonly = await runClient(client, args, options);
    expect(readonly.output).toContain("successfully initialized");
  });
});
