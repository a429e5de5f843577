import { appendFileSync, copyFileSync } from "node:fs";
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
import { tarGz } from "../fakes/module-archive.ts";
import { defaultSigner } from "../fakes/signing.ts";
import {
  exportBundle,
  offlineSite,
  siteOf,
} from "../mirror/bundles/bundles.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import {
  calling,
  makeModuleCalls,
  moduleHost,
  otherHost,
  providerHost,
  requiredTogether,
  requiring,
  type ModuleCallsScene,
} from "../scenes/module-calls.ts";
import {
  folderHost,
  makeDist,
  makeOriginFolder,
  putRelease,
  writeFiles,
} from "../scenes/origin-folder.ts";
import {
  findClients,
  hostConfig,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
} from "./clients.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clients = await findClients();
if (clients.length === 0)
  it.skip("installs imported modules with a real client: none is on PATH", () =>
    undefined);

/** Required by the configuration itself. */
const own = ["alpha", "beta", "gamma"];
const modules = {
  network: `${moduleHost}/acme/network/aws`,
  inner: `${moduleHost}/acme/subnet/aws//deep/inner`,
  parts: `${folderHost}/acme/parts/aws`,
};
/** Origins of a site that only the bundle reaches. */
const hosts = [providerHost, moduleHost, otherHost, folderHost];
const nowhere = { url: "https://127.0.0.1:1/" };
const flags = ["--platform", "linux_amd64"];

let scene: ModuleCallsScene;
let bundle: string;
const configuration = scratch("configuration");

/** A folder with a provider, and a module that requires it. */
async function makePrivateFolder(): Promise<string> {
  const root = makeOriginFolder(await defaultSigner());
  putRelease(root, await makeDist({ type: "bolt", version: "1.2.3" }));
  const required = requiring("bolt", ">= 1").replace(providerHost, folderHost);
  writeFiles(join(root, "modules", "acme", "parts", "aws"), {
    "0.1.0.tar.gz": await tarGz([["main.tf", required]]),
  });
  return root;
}

beforeAll(async () => {
  scene = await makeModuleCalls();
  for (const type of own)
    await scene.providers.publish({ type, version: "1.0.0" });
  const required = own.map((type) => {
    const source = `${providerHost}/acme/${type}`;
    return [type, { source, version: "1.0.0" }] as const;
  });
  await writeConfiguration(configuration, Object.fromEntries(required));
  const called = Object.entries(modules).map(([name, source]) =>
    calling(source).replace('"called"', `"${name}"`),
  );
  appendFileSync(join(configuration, "main.tf"), called.join(""));

  const folder = { [folderHost]: { directory: await makePrivateFolder() } };
  const origins = { ...scene.config.origins, ...folder };
  const here = siteOf({ config: { origins } });
  const asked = [...flags, "--directory", configuration];
  const fetched = await here.run("prefetch", ...asked);
  expect(fetched.stderr).toContain(" 0 failed");
  await scene.stop();
  // The prefetched files are enough for the bundle.
  const config = { origins, offline: true };
  const cut = siteOf({ config, directory: here.directory });
  bundle = await exportBundle(cut, ...asked);
});

afterAll(() => scene.stop());

describe.each(clients)("$name $version across an air gap", (client) => {
  it("installs nested, inner and private modules and eight providers from an empty store that imported a bundle", async () => {
    const origins = Object.fromEntries(hosts.map((host) => [host, nowhere]));
    const site = offlineSite({ config: { offline: true, origins } });
    expect((await site.run("import", bundle)).stderr).toContain(
      "0 releases refused",
    );
    const mirror = await startMirror(site);
    onTestFinished(() => mirror.kill());

    const directory = scratch("init");
    copyFileSync(join(configuration, "main.tf"), join(directory, "main.tf"));
    const blocks = hosts.map((host) =>
      hostConfig(host, { "modules.v1": `${mirror.url}v1/modules/${host}/` }),
    );
    const cliConfig =
      networkMirrorConfig(`${mirror.url}providers/`) + blocks.join("");
    const ran = await runClient(client, ["init", "-no-color"], {
      directory,
      cliConfig,
      caFile: mirror.caFile,
      // Go asks 127.0.0.1 without a proxy, and nothing else.
      env: { HTTPS_PROXY: "http://127.0.0.1:1" },
    });
    expect(ran.output).toContain("successfully initialized");
    const locks = await readLockFile(directory);
    expect(
      [...locks].map(([name, { version }]) => `${name} ${version}`).toSorted(),
    ).toEqual(
      [
        ...requiredTogether,
        ...own.map((type) => `${providerHost}/acme/${type} 1.0.0`),
        `${folderHost}/acme/bolt 1.2.3`,
      ].toSorted(),
    );
  });
});
