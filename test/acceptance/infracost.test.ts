import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueToken } from "../client-token.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { calling } from "../scenes/module-calls.ts";
import { makeModuleScene, type ModuleScene } from "../scenes/module-scene.ts";
import { execute } from "./clients.ts";
import { infracost } from "./programs.ts";

const token = issueToken("costs");

let scene: ModuleScene;
let mirror: RunningMirror;
let prices: Server;

beforeAll(async () => {
  scene = await makeModuleScene();
  const instance =
    'resource "aws_instance" "web" {\n  ami           = "ami-1"\n  instance_type = "t3.micro"\n}\n';
  const bytes = await tarGz([["main.tf", instance]]);
  const url = scene.origin.serve("/files/network.tar.gz", bytes);
  scene.origin.publish("acme/network/aws", "1.0.0", url);
  const auth = { tokens: [token.configured] };
  mirror = await startMirror({ config: scene.configOf({ auth }) });
  prices = await startPrices();
});

afterAll(async () => {
  prices.close();
  await mirror.stop();
  await scene.origin.stop();
});

/** Stands for its price list, which has nothing. */
async function startPrices(): Promise<Server> {
  const server = createServer((request, response) => {
    void json(request).then((asked) => {
      const queries = Array.isArray(asked) ? asked : [];
      const found = queries.map(() => ({ data: { products: [] } }));
      response.end(JSON.stringify(found));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

it.runIf(infracost !== undefined)(
  "Infracost breaks down a module that comes from the mirror",
  { timeout: 120_000 },
  async () => {
    const { host } = new URL(mirror.url);
    const directory = scratch("priced");
    const called = calling(`${host}/acme/network/aws`, "1.0.0");
    writeFileSync(join(directory, "main.tf"), called);
    const { port } = prices.address() as AddressInfo;
    const endpoint = `http://127.0.0.1:${port}`;
    const args = ["breakdown", "--path", directory, "--format", "json"];
    const { status, stdout, stderr } = await execute(
      infracost?.binary ?? "",
      args,
      {
        cwd: directory,
        timeout: 110_000,
        env: {
          PATH: process.env.PATH,
          HOME: scratch("home"),
          SSL_CERT_FILE: mirror.caFile,
          INFRACOST_API_KEY: "none",
          INFRACOST_PRICING_API_ENDPOINT: endpoint,
          INFRACOST_DASHBOARD_API_ENDPOINT: endpoint,
          INFRACOST_SKIP_UPDATE_CHECK: "true",
          INFRACOST_TERRAFORM_CLOUD_HOST: host,
          INFRACOST_TERRAFORM_CLOUD_TOKEN: token.token,
        },
      },
    );
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout, stderr).toContain(".aws_instance.web");
    expect(scene.origin.count("/files/network.tar.gz")).toBe(1);
  },
);
