import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer, issueToken } from "../client-token.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  makeModuleScene,
  moduleBase,
  type ModuleScene,
} from "../scenes/module-scene.ts";
import {
  credentialsConfig,
  findClients,
  hostConfig,
  runClient,
  type Client,
} from "./clients.ts";

const clients = await findClients();
const host = "registry.terraform.io";
const ci = issueToken("ci");
const output = 'output "name" {\n  value = "vpc"\n}\n';

let scene: ModuleScene;
let mirror: RunningMirror;

beforeAll(async () => {
  scene = await makeModuleScene();
  const bytes = await tarGz([["modules/vpc/main.tf", output]]);
  const url = scene.origin.serve("/files/network.tgz", bytes);
  scene.origin.publish("acme/network/aws", "1.0.0", `${url}//modules/vpc`);
  const auth = { tokens: [ci.configured] };
  mirror = await startMirror({ config: scene.configOf({ auth }) });
});

afterAll(async () => {
  await mirror.stop();
  await scene.origin.stop();
});

it("leads to a module's archive by a signed path, which is good for no other", async () => {
  const folder = `${moduleBase}/network/aws/1.0.0/`;
  const located = await mirror.get(`${folder}download`, bearer(ci.token));
  const location = String(located.headers["x-terraform-get"]);
  const [, place = ""] = /1\.0\.0\/(\S+)\/\/modules\/vpc$/.exec(location) ?? [];
  const archive = await mirror.get(folder + place);
  expect(archive.status).toBe(200);
  expect((await mirror.get(`${folder}archive.tar.gz`)).status).toBe(401);
  const other = folder.replace("1.0.0", "1.0.1") + place;
  expect((await mirror.get(other)).status).toBe(401);
  expect((await mirror.get(`${folder}download`)).status).toBe(401);
});

describe.each(clients)(
  "$name $version init with a module",
  (client: Client) => {
    it("installs with the token of the module's hostname, and not without", async () => {
      const service = `${mirror.url}v1/modules/${host}/`;
      const services = hostConfig(host, { "modules.v1": service });
      const init = async (cliConfig: string) => {
        const directory = scratch("module");
        const block = `module "network" {\n  source  = "${host}/acme/network/aws"\n  version = "1.0.0"\n}\n`;
        await writeFile(join(directory, "main.tf"), block);
        const { caFile } = mirror;
        const options = { directory, cliConfig, caFile };
        return runClient(client, ["init", "-no-color"], options);
      };
      const known = await init(credentialsConfig(host, ci.token) + services);
      expect(known.output).toContain("successfully initialized");
      const unknown = await init(services);
      expect(unknown.status).toBe(1);
    });
  },
);
