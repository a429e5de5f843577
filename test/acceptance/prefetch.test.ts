import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeStorage, type CommandStorage } from "../commands/storage.ts";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { runCommand } from "../running-command.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import {
  directConfig,
  findClients,
  networkMirrorConfig,
  runClient,
  writeConfiguration,
  type RequiredProviders,
} from "./clients.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("prefetches for a real client: none is on PATH", () => undefined);

const platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];
const types = Array.from({ length: 10 }, (_, index) => `widget${index}`);
const providers: RequiredProviders = Object.fromEntries(
  types.map((type) => [
    type,
    { source: `registry.terraform.io/acme/${type}`, version: "~> 1.2" },
  ]),
);

let registry: Registry;
let config: ReturnType<typeof originsOf>;
let originCa: string;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  for (const type of types)
    for (const version of ["1.2.3", "1.3.0"])
      await registry.publish({ type, version, platforms, size: 20_000 });
  config = originsOf(authority, registry);
  originCa = (config.origins["registry.terraform.io"] as { ca: string }).ca;
});

afterAll(() => registry.stop());

function prefetch({ configFile }: CommandStorage, ...args: string[]) {
  return runCommand(["prefetch", "--config", configFile, ...args]);
}

describe.each(clients)("prefetch for $name $version", (client) => {
  it("brings all that a lock file names for three platforms, so that init works without the origin, and asks for nothing again", async () => {
    const directory = scratch("locked");
    await writeConfiguration(directory, providers);
    const direct = { directory, caFile: originCa };
    const locking = await runClient(client, ["init", "-no-color"], {
      ...direct,
      cliConfig: directConfig(registry.providersUrl),
    });
    expect(locking.output).toContain("successfully initialized");
    const lockFile = join(directory, ".terraform.lock.hcl");
    const flags = platforms.flatMap((name) => ["--platform", name]);
    const storage = makeStorage(config);

    registry.requests.clear();
    const first = await prefetch(storage, ...flags, "--lock-file", lockFile);
    expect(first.stderr).toMatch(
      /^30 fetched .* 0 stored already, 0 failed\.$/m,
    );
    expect(first.status).toBe(0);
    expect(registry.requests.count("archive")).toBe(30);

    registry.requests.clear();
    const second = await prefetch(storage, ...flags, "--lock-file", lockFile);
    expect(second.stderr).toBe(
      "0 fetched (0 B in 1s), 30 stored already, 0 failed.\n".replace(
        /in \d+s/,
        /in \d+s/.exec(second.stderr)?.[0] ?? "",
      ),
    );
    expect(second.status).toBe(0);
    expect(registry.requests.count()).toBe(0);

    await registry.stop();
    const mirror = await startMirror({ config, directory: storage.directory });
    try {
      const fresh = scratch("offline");
      await writeConfiguration(fresh, providers);
      cpSync(lockFile, join(fresh, ".terraform.lock.hcl"));
      const init = await runClient(
        client,
        ["init", "-no-color", "-lockfile=readonly"],
        {
          directory: fresh,
          caFile: mirror.caFile,
          cliConfig: networkMirrorConfig(`${mirror.url}providers/`),
        },
      );
      expect(init.output).toContain("successfully initialized");
    } finally {
      await mirror.stop();
      await registry.restart();
    }
    expect(readdirSync(join(storage.directory, "staging"))).toEqual([]);
  });
});
