import { readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from "vitest";
import { createAuthority, type Authority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import {
  connectedSite,
  exportBundle,
  offlineSite,
  type Site,
} from "../mirror/bundles/bundles.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import {
  directConfig,
  findClients,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";

// Each test runs several commands, each a process of its own.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clients = await findClients();
if (clients.length === 0)
  it.skip("crosses the gap with a real client: none is on PATH", () =>
    undefined);

const host = "registry.terraform.io";
const platforms = ["linux_amd64", "darwin_arm64"];
const flags = platforms.flatMap((platform) => ["--platform", platform]);
const specs = ["acme/widget@1.2.3", "acme/gadget@all"];
const required = {
  widget: { source: `${host}/acme/widget`, version: "1.2.3" },
  gadget: { source: `${host}/acme/gadget`, version: "~> 0.1" },
};

let authority: Authority;
let originCa: string;
let registry: Registry;
let releases: readonly Release[];
let here: Site;
let tree: string;
let bundle: string;

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  const made = { platforms, size: 200_000, content: "half" } as const;
  releases = [
    await registry.publish({ version: "1.2.3", ...made }),
    await registry.publish({ type: "gadget", version: "0.1.0", ...made }),
    await registry.publish({ type: "gadget", version: "0.1.5", ...made }),
  ];
  const { origins } = originsOf(authority, registry);
  originCa = (origins[host] as { ca: string }).ca;
  here = connectedSite(authority, registry);
  bundle = await exportBundle(here, ...flags, ...specs);
  tree = join(scratch("tree"), "tree");
  const written = await here.run("export", "--to", tree, ...flags, ...specs);
  expect(written.status).toBe(0);
}, 120_000);

async function init(client: Client, cliConfig: string, caFile = originCa) {
  const directory = scratch("init");
  await writeConfiguration(directory, required);
  const options = { directory, cliConfig, caFile };
  const ran = await runClient(client, ["init", "-no-color"], options);
  return { ...ran, directory };
}

/** Installed, with the publisher's own bytes. */
async function expectInstalled(ran: Awaited<ReturnType<typeof init>>) {
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
    await expectInstalled(await init(client, config));
  });

  it("installs from an offline daemon whose empty store imported the bundle", async () => {
    const site = offlineSite();
    expect((await site.run("import", bundle)).status).toBe(0);
    const mirror = await startMirror(site);
    onTestFinished(() => mirror.kill());
    const config = networkMirrorConfig(`${mirror.url}providers/`);
    await expectInstalled(await init(client, config, mirror.caFile));
  });
});

it.runIf(clients.some(({ name }) => name === "terraform"))(
  "exports the documents that terraform providers mirror writes, with zh: besides",
  async () => {
    const client = clients.find(({ name }) => name === "terraform");
    if (client === undefined) throw new Error("checked above");
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
      const options = { directory, cliConfig, caFile: originCa };
      const args = ["providers", "mirror", ...asked, reference];
      expect((await runClient(client, args, options)).status).toBe(0);
    }
    for (const type of ["widget", "gadget"]) {
      const [ours, theirs] = [tree, reference].map((root) =>
        join(root, host, "acme", type),
      );
      if (ours === undefined || theirs === undefined) throw new Error("none");
      expect(readdirSync(ours)).toEqual(readdirSync(theirs));
      for (const name of readdirSync(ours)) {
        const [mine, other] = [ours, theirs].map((folder) =>
          readFileSync(join(folder, name)),
        );
        if (name.endsWith(".json"))
          // To the byte, once zh: is taken away.
          expect(withoutArchiveHashes(mine)).toBe(other?.toString());
        else expect(other && mine?.equals(other)).toBe(true);
      }
    }
  },
);

function withoutArchiveHashes(document: Buffer | undefined): string {
  const drop = (key: string, value: unknown): unknown =>
    key === "hashes"
      ? (value as string[]).filter((hash) => !hash.startsWith("zh:"))
      : value;
  return JSON.stringify(JSON.parse(String(document), drop), null, 2);
}
