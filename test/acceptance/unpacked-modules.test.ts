import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { makeModuleScene, type ModuleScene } from "../scenes/module-scene.ts";
import { readOurselves } from "../verification/archives/own-reading.ts";
import { soundTars } from "../verification/archives/sound-tars.ts";
import { soundZips } from "../verification/archives/sound-zips.ts";
import { findClients, hostConfig, runClient, type Client } from "./clients.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("unpacks modules with a real client: none is on PATH", () =>
    undefined);

const hostname = "registry.terraform.io";

type Kind = "tar.gz" | "zip";
type Case = readonly [name: string, format: Kind, bytes: Buffer];

const casesOf = (
  prefix: string,
  format: Kind,
  archives: Readonly<Record<string, Buffer>>,
): readonly Case[] =>
  Object.values(archives).map(
    (bytes, index) => [`${prefix}${String(index)}`, format, bytes] as const,
  );

const sound = [
  ...casesOf("sound-tar-", "tar.gz", soundTars),
  ...casesOf("sound-zip-", "zip", soundZips),
];

let scene: ModuleScene;
let mirror: RunningMirror;

beforeAll(async () => {
  scene = await makeModuleScene();
  for (const [name, format, bytes] of sound) {
    const url = scene.origin.serve(`/files/${name}.${format}`, bytes);
    scene.origin.publish(`acme/${name}/aws`, "1.0.0", url);
  }
  mirror = await startMirror({ config: scene.configOf() });
});

afterAll(async () => {
  await mirror.stop();
  await scene.origin.stop();
});

/** `get` of modules that are named as the cases are. */
async function get(client: Client, cases: readonly Case[]) {
  const directory = scratch("get");
  const blocks = cases.map(
    ([name]) =>
      `module "${name}" {\n  source  = "${hostname}/acme/${name}/aws"\n  version = "1.0.0"\n}\n`,
  );
  writeFileSync(join(directory, "main.tf"), blocks.join(""));
  const url = `${mirror.url}v1/modules/${hostname}/`;
  const cliConfig = hostConfig(hostname, { "modules.v1": url });
  const options = { directory, cliConfig, caFile: mirror.caFile };
  const ran = await runClient(client, ["get", "-no-color"], options);
  return { ...ran, directory };
}

/** The files below a folder, with their content's digest. */
function filesBelow(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    files.map((path) => [
      path.slice(folder.length + 1),
      createHash("sha256").update(readFileSync(path)).digest("hex"),
    ]),
  );
}

/** Returns the files that a client should unpack; links become files, empty ones in a tar. */
async function expectedOf([, format, bytes]: Case) {
  const { members } = await readOurselves(format, bytes);
  return Object.fromEntries(
    members
      .filter(({ kind }) => kind !== "directory")
      .map(({ name, sha256 }) => [
        Buffer.from(name, "latin1").toString().replace(/^\.\//, ""),
        sha256,
      ]),
  );
}

describe.each(clients)("$name $version through the mirror", (client) => {
  it(
    "unpacks what the mirror found in an archive",
    { timeout: 120_000 },
    async () => {
      const { output, directory } = await get(client, sound);
      const modules = join(directory, ".terraform", "modules");
      for (const one of sound) {
        const [name] = one;
        expect(existsSync(join(modules, name)), `${name}: ${output}`).toBe(
          true,
        );
        expect(filesBelow(join(modules, name)), name).toEqual(
          await expectedOf(one),
        );
      }
    },
  );
});
