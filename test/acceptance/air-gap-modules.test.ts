import { readFileSync, writeFileSync } from "node:fs";
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
  requiredTogether,
  type ModuleCallsScene,
} from "../scenes/module-calls.ts";
import {
  findClients,
  networkMirrorConfig,
  readLockFile,
  runClient,
} from "./clients.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clients = await findClients();
if (clients.length === 0)
  it.skip("installs imported modules with a real client: none is on PATH", () =>
    undefined);

let scene: ModuleCallsScene;
let bundle: string;
const configuration = scratch("configuration");

beforeAll(async () => {
  scene = await makeModuleCalls();
  const text = calling(`${moduleHost}/acme/network/aws`, "~> 1.0");
  writeFileSync(join(configuration, "main.tf"), text);
  const here = siteOf({ config: scene.config });
  const flags = ["--platform", "linux_amd64", "--directory", configuration];
  bundle = await exportBundle(here, ...flags);
  await scene.stop();
});

afterAll(() => scene.stop());

describe.each(clients)("$name $version across an air gap", (client) => {
  it("installs modules and what they require from an empty store that imported a bundle", async () => {
    const nowhere = { url: "https://127.0.0.1:1/" };
    const hosts = [moduleHost, otherHost];
    const site = offlineSite({
      config: {
        offline: true,
        origins: Object.fromEntries(
          ["registry.terraform.io", ...hosts].map((host) => [host, nowhere]),
        ),
      },
    });
    expect((await site.run("import", bundle)).stderr).toContain(
      "0 releases refused",
    );
    const mirror = await startMirror(site);
    onTestFinished(() => mirror.kill());

    const directory = scratch("init");
    const text = readFileSync(join(configuration, "main.tf"));
    writeFileSync(join(directory, "main.tf"), text);
    const blocks = hosts.map(
      (host) =>
        `host "${host}" {\n  services = {\n    "modules.v1" = "${mirror.url}v1/modules/${host}/"\n  }\n}\n`,
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
    ).toEqual(requiredTogether);
  });
});
