import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSigner } from "../fakes/signing.ts";
import { scratch } from "../running-mirror.ts";
import { findClients, hostConfig, init, type Client } from "./clients.ts";
import { startWorld } from "../scenes/world.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("does not install what is denied: no real client is on PATH", () =>
    undefined);

const host = "registry.terraform.io";
const known = await createSigner({ name: "Known" });
const stranger = await createSigner({ name: "Stranger" });

const { authority, registry, mirror } = await startWorld({
  freshness: { versions: "0" },
  policy: {
    rules: [
      { match: `${host}/acme/denied`, action: "deny" },
      { match: `${host}/acme/partly`, action: "deny", versions: ">= 2.0" },
      { match: `${host}/acme/young`, action: "allow", minimumAge: "7d" },
    ],
  },
  trust: {
    keys: [
      { match: `${host}/acme/foreign`, fingerprints: [known.fingerprint] },
    ],
  },
});
const young = new Date(Date.now() - 60_000);
const releases = [
  { type: "denied", version: "1.0.0" },
  { type: "partly", version: "1.0.0" },
  { type: "partly", version: "2.0.0" },
  { type: "young", version: "1.0.0", signedAt: young },
  { type: "foreign", version: "1.0.0", signer: stranger },
  { type: "held", version: "1.0.0" },
];
for (const release of releases)
  await registry.publish({ signer: known, size: 10_000, ...release });
await mirror.get(`/providers/${host}/acme/held/1.0.0.json`);
await registry.publish({ type: "held", version: "1.1.0", signer: stranger });
// A client trusts one file, and asks the mirror as well as the registry.
const caFile = join(scratch("ca"), "both.pem");
const own = await readFile(mirror.caFile, "utf8");
await writeFile(caFile, `${own}\n${authority.caPem}`);

/** The mirror first, then the registry itself, which has it all. */
async function install(
  client: Client,
  type: string,
  version: string | undefined,
  methods = `  network_mirror {\n    url = "${mirror.url}providers/"\n  }\n  direct {}\n`,
) {
  const source = `${host}/acme/${type}`;
  const wanted = version === undefined ? { source } : { source, version };
  const services = { "providers.v1": registry.providersUrl };
  const cliConfig = `${hostConfig(host, services)}provider_installation {\n${methods}}\n`;
  const ran = await init(client, { wanted }, { cliConfig, caFile });
  const folder = join(ran.directory, ".terraform", "providers", source);
  return { ...ran, installed: existsSync(folder) };
}

describe.each(clients)(
  "$name $version with direct after the mirror",
  (client) => {
    it("could install it directly", async () => {
      const { status, installed } = await install(
        client,
        "denied",
        undefined,
        "  direct {}\n",
      );
      expect([status, installed]).toEqual([0, true]);
    });

    it.each([
      ["a denied provider", "denied", undefined],
      ["a denied version", "partly", "2.0.0"],
      [
        "a provider under another key than the pinned one",
        "foreign",
        undefined,
      ],
      ["a version under an unknown key", "held", "1.1.0"],
    ])("does not install %s", async (_name, type, version) => {
      registry.requests.clear();
      const { status, output, installed } = await install(
        client,
        type,
        version,
      );
      expect(output).toContain("451");
      expect([status, installed]).toEqual([1, false]);
      expect(registry.requests.count("archive")).toBe(0);
    });

    it("installs what is allowed beside what is not", async () => {
      const { status, installed } = await install(client, "partly", "1.0.0");
      expect([status, installed]).toEqual([0, true]);
    });
  },
);
