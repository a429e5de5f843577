import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { findNginx, startServer } from "../../acceptance/nginx.ts";
import {
  startDoctorScene,
  freePort,
  keep,
  withProxy,
  type Diagnosis,
} from "./doctor-scene.ts";

const scene = await startDoctorScene();

/** By what is wrong: how it is built and looked at. */
const brokenClients: Readonly<Record<string, () => Promise<Diagnosis>>> = {
  "another CA": () =>
    scene.client(scene.mirror.url, {
      ca: keep("ca.pem", scene.authority.caPem),
    }),
  "a wrong token": () =>
    scene.client(scene.mirror.url, { token: "not-this-one" }),
  "a wrong path": () => scene.client(`${scene.mirror.url}provider/`),
  "a proxy that refuses every request": () =>
    withProxy("403 Forbidden", (env) => scene.client(scene.mirror.url, env)),
  "a closed port": async () =>
    scene.client(`https://127.0.0.1:${await freePort()}/`),
};

describe("provender doctor --mirror", () => {
  it("finds no fault in a mirror that can be used", async () => {
    const { faults: wrong, run } = await scene.client(scene.mirror.url);
    expect([wrong, run.stderr]).toEqual([[], ""]);
    const whole = await scene.client(`${scene.mirror.url}providers/`);
    expect(whole.faults).toEqual([]);
    const proxied = await withProxy(undefined, (env) =>
      scene.client(scene.mirror.url, env),
    );
    expect(proxied.faults).toEqual([]);
  });

  it("finds no fault in nginx as the manual sets it up", async () => {
    const nginx = await findNginx();
    if (nginx === undefined) return;
    const directives = `location / { proxy_pass ${scene.mirror.url}; proxy_http_version 1.1; proxy_set_header Host $host; proxy_set_header Connection ""; proxy_buffering off; }`;
    const front = await startServer(nginx, scene.authority, directives);
    const ca = keep("ca.pem", scene.authority.caPem);
    const behind = await scene
      .client(front.url, { ca })
      .finally(() => front.stop());
    expect(behind.faults).toEqual([]);
  });

  it.each(Object.entries(brokenClients))("names %s", async (_, look) => {
    const { faults: wrong, run } = await look();
    expect([wrong, run.stderr]).toEqual([["mirror"], ""]);
  });

  it.each<[string, RequestListener, string]>([
    ["a page", (_, res) => res.end("<h1>It works!</h1>"), "is not provender's"],
    [
      "an answer without end",
      (_, res) => {
        const more = () => void res.write(Buffer.alloc(2 ** 20), more);
        more();
      },
      "does not answer as a mirror does",
    ],
  ])("finds no mirror where %s answers", async (_, answer, problem) => {
    const { certificate, key } = await scene.authority.issue(["127.0.0.1"]);
    const server = createServer({ cert: certificate, key }, answer);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const ca = keep("ca.pem", scene.authority.caPem);
    const { faults, run } = await scene
      .client(`https://127.0.0.1:${port}/`, { ca })
      .finally(() => {
        server.closeAllConnections();
        server.close();
      });
    expect(faults).toEqual(["mirror"]);
    expect(run.stdout).toContain(problem);
  });
});
