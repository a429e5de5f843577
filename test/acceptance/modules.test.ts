import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../fakes/git-http.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import { makeModuleScene } from "../scenes/module-scene.ts";
import { hostConfig, init, type Client } from "./clients.ts";
import { findTestedClients } from "./tested-clients.ts";

const clients = await findTestedClients();

const hostname = "registry.terraform.io";
const sources = {
  tagged: `${hostname}/acme/tagged/aws`,
  inside: `${hostname}/acme/inside/aws`,
  packed: `${hostname}/acme/packed/aws`,
  below: `${hostname}/acme/packed/aws//modules/child`,
};

const root = scratch("git");
const scene = await makeModuleScene(gitBackend(root));
const repository = await GitRepository.create(join(root, "network"));
await repository.commit(
  {
    "main.tf": 'output "name" { value = "first" }\n',
    "run.sh": { program: "#!/bin/sh\n" },
    "modules/vpc/main.tf": 'output "vpc" { value = "vpc" }\n',
  },
  "v1.0.0",
);
const git = `git::${scene.origin.url}git/network/.git`;
scene.origin.publish("acme/tagged/aws", "1.0.0", `${git}?ref=v1.0.0`);
const inside = `${git}//modules/vpc?ref=v1.0.0&depth=1`;
scene.origin.publish("acme/inside/aws", "1.0.0", inside);
const packed = await tarGz([
  ["module-1.0/main.tf", 'output "packed" { value = "packed" }\n'],
  ["module-1.0/modules/child/main.tf", 'output "a" { value = "b" }\n'],
]);
const url = scene.origin.serve("/files/packed.tar.gz", packed);
scene.origin.publish("acme/packed/aws", "1.0.0", `${url}//module-1.0`);
const mirror = await startMirror({ config: scene.configOf() });

/** Reads the modules that `init` installed, with executable bits, without git's own files. */
function installed(directory: string): Readonly<Record<string, string>> {
  const folder = join(directory, ".terraform", "modules");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.includes("/.git/"));
  return Object.fromEntries(
    files.map((path) => {
      const program = (statSync(path).mode & 0o100) !== 0 ? "program " : "";
      const text = readFileSync(path, "utf8");
      return [path.slice(folder.length + 1), program + text];
    }),
  );
}

const calls = Object.entries(sources).map(
  ([name, source]) =>
    `module "${name}" {\n  source  = "${source}"\n  version = "1.0.0"\n}\n`,
);

const install = (client: Client, modulesUrl: string, caFile: string) =>
  init(
    client,
    {},
    {
      ...{ caFile, files: { "modules.tf": calls.join("") } },
      cliConfig: hostConfig(hostname, { "modules.v1": modulesUrl }),
      env: { GIT_SSL_CAINFO: caFile },
    },
  );

const throughMirror = (client: Client) =>
  install(client, `${mirror.url}v1/modules/${hostname}/`, mirror.caFile);

describe.each(clients)(
  "$name $version with modules through the mirror",
  (client) => {
    it("installs what a direct install does: cold, warm, and with the origin stopped", async () => {
      const { origin, caFile } = scene;
      const direct = await install(client, origin.modulesUrl, caFile);
      expect(direct.output).toContain("successfully initialized");
      const expected = installed(direct.directory);
      expect(Object.keys(expected).length).toBeGreaterThan(6);

      for (const phase of ["cold", "warm"]) {
        origin.requests.clear();
        const ran = await throughMirror(client);
        expect(ran.output, phase).toContain("successfully initialized");
        expect(installed(ran.directory), phase).toEqual(expected);
      }
      expect(origin.count("/git/")).toBe(0);
      expect(origin.count("/files/")).toBe(0);
      await origin.stop();
      try {
        const ran = await throughMirror(client);
        expect(ran.output).toContain("successfully initialized");
        expect(installed(ran.directory)).toEqual(expected);
      } finally {
        await origin.restart();
      }
    });
  },
);
