import { readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  connectedSite,
  exportBundle,
  offlineSite,
} from "../mirror/bundles/bundles.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import { startOrigin } from "../scenes/world.ts";
import {
  directConfig,
  init,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";
import { findTestedClients } from "./tested-clients.ts";

const clients = await findTestedClients();

const host = "registry.terraform.io";
const platforms = ["linux_amd64", "darwin_arm64"];
const flags = platforms.flatMap((platform) => ["--platform", platform]);
const specs = ["acme/widget@1.2.3", "acme/gadget@all"];
const required = {
  widget: { source: `${host}/acme/widget`, version: "1.2.3" },
  gadget: { source: `${host}/acme/gadget`, version: "~> 0.1" },
};

const { authority, registry, ca } = await startOrigin();
const made = { platforms, size: 200_000, content: "half" } as const;
const releases = [
  await registry.publish({ version: "1.2.3", ...made }),
  await registry.publish({ type: "gadget", version: "0.1.0", ...made }),
  await registry.publish({ type: "gadget", version: "0.1.5", ...made }),
];
const here = connectedSite(authority, registry);
const bundle = await exportBundle(here, ...flags, ...specs);
const tree = join(scratch("tree"), "tree");
const written = await here.run("export", "--to", tree, ...flags, ...specs);
expect(written.status).toBe(0);

const install = (client: Client, cliConfig: string, caFile = ca) =>
  init(client, required, { cliConfig, caFile });

/** Installed, with the publisher's own bytes. */
async function expectInstalled(ran: Awaited<ReturnType<typeof install>>) {
  expect(ran.output).toContain("successfully initialized");
  const locks = await readLockFile(ran.directory);
  const h1s = [releases[0], releases[2]].map(
    (release) => release?.archive("linux_amd64").h1,
  );
  expect(locks.get(`${host}/acme/widget`)?.hashes).toContain(h1s[0]);
  expect(locks.get(`${host}/acme/gadget`)?.version).toBe("0.1.5");
  expect(locks.get(`${host}/acme/gadget`)?.hashes).toContain(h1s[1]);
}

describe.each(clients)("$name $version without the origin", (client) => {
  beforeAll(() => registry.stop());
  afterAll(() => registry.restart());

  it("installs from the exported tree as a filesystem mirror", async () => {
    const config = `provider_installation {\n  filesystem_mirror {\n    path = "${tree}"\n  }\n}\n`;
    await expectInstalled(await install(client, config));
  });

  it("installs from an offline daemon whose empty store imported the bundle", async () => {
    const site = offlineSite();
    expect((await site.run("import", bundle)).status).toBe(0);
    const mirror = await startMirror(site);
    const config = networkMirrorConfig(`${mirror.url}providers/`);
    await expectInstalled(await install(client, config, mirror.caFile));
  });
});

it.each(clients.filter(({ name }) => name === "terraform").slice(0, 1))(
  "exports the documents that $name providers mirror writes, with zh: besides",
  async (client) => {
    const reference = join(scratch("reference"), "tree");
    // It takes one version of a provider at a time and joins them.
    for (const version of ["0.1.0", "0.1.5"]) {
      const directory = scratch("reference");
      await mkdir(reference, { recursive: true });
      await writeConfiguration(directory, {
        ...required,
        gadget: { ...required.gadget, version },
      });
      const asked = platforms.map((platform) => `-platform=${platform}`);
      const cliConfig = directConfig(registry.providersUrl);
      const options = { directory, cliConfig, caFile: ca };
      const args = ["providers", "mirror", ...asked, reference];
      expect((await runClient(client, args, options)).status).toBe(0);
    }
    for (const type of ["widget", "gadget"]) {
      const ours = join(tree, host, "acme", type);
      const theirs = join(reference, host, "acme", type);
      expect(readdirSync(ours)).toEqual(readdirSync(theirs));
      for (const name of readdirSync(ours)) {
        const mine = readFileSync(join(ours, name));
        const other = readFileSync(join(theirs, name));
        if (name.endsWith(".json"))
          // To the byte, once zh: is taken away.
          expect(withoutArchiveHashes(mine)).toBe(other.toString());
        else expect(mine.equals(other)).toBe(true);
      }
    }
  },
);

function withoutArchiveHashes(document: Buffer): string {
  const drop = (key: string, value: unknown): unknown =>
    key === "hashes"
      ? (value as string[]).filter((hash) => !hash.startsWith("zh:"))
      : value;
  return JSON.stringify(JSON.parse(String(document), drop), null, 2);
}
