import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DoctorScene } from "./doctor-scene.ts";

/** Milliseconds: ten seconds for all checks of a kind, and the start of the program. */
const longest = 12_000;

let scene: DoctorScene;

beforeAll(async () => {
  scene = await DoctorScene.start();
});
afterAll(() => scene.stop());

it("doctor waits at most ten seconds for a mirror and for origins", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}/`;
  const timed = async <T>(look: Promise<T>) => {
    const started = performance.now();
    return { found: await look, took: performance.now() - started };
  };
  const [client, server] = await Promise.all([
    timed(scene.client(url)),
    timed(scene.server(scene.origins({ url }))),
  ]);
  silent.close();
  expect(client.found.faults).toEqual(["mirror"]);
  expect(server.found.faults).toEqual(["origin"]);
  console.log(
    `doctor of what never answers: ${Math.round(client.took)} and ${Math.round(server.took)} ms`,
  );
  expect(Math.max(client.took, server.took)).toBeLessThan(longest);
});
