import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { onlyFor, status } from "../fakes/faults.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  findClients,
  hostConfig,
  runClient,
  writeConfiguration,
} from "./clients.ts";

const clients = await findClients();
const host = "registry.terraform.io";
const version = ">= 1.0.0";

let registry: Registry;
let mirror: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  for (const version of ["1.0.0", "1.1.0", "2.0.0"])
    await registry.publish({ type: "demo", version, size: 10_000 });
  registry.script("checksums", onlyFor(/2\.0\.0/, status(404)));
  mirror = await startMirror({ config: originsOf(authority, registry) });
});

afterAll(() => Promise.all([mirror.stop(), registry.stop()]));

const cases = clients.flatMap((client) => [
  {
    ...{ client, face: "network mirror" },
    cliConfig: () =>
      `provider_installation {\n  network_mirror {\n    url = "${mirror.url}providers/"\n  }\n}\n`,
  },
  {
    ...{ client, face: "host block" },
    cliConfig: () =>
      hostConfig(host, {
        "providers.v1": `${mirror.url}v1/providers/${host}/`,
      }),
  },
]);

if (cases.length === 0)
  it.skip("takes the newest release with files: no real client is on PATH", () =>
    undefined);

it.for(cases)(
  "$client.name $client.version takes the newest release with files behind a $face",
  async ({ client, cliConfig }) => {
    const directory = scratch("phantom");
    const wanted = { source: `${host}/acme/demo`, version };
    await writeConfiguration(directory, { wanted });
    const { status, output } = await runClient(client, ["init", "-no-color"], {
      ...{ directory, cliConfig: cliConfig(), caFile: mirror.caFile },
    });
    expect([status, output]).toEqual([0, expect.any(String)]);
    const lock = await readFile(join(directory, ".terraform.lock.hcl"), "utf8");
    expect(lock).toMatch(/version += "1\.1\.0"/);
  },
);
