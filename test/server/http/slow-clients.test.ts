import { expect, it } from "vitest";
import { all, alteredByte, chunked, onlyFor } from "../../fakes/faults.ts";
import { startMirror } from "../../running-mirror.ts";
import { awaitHit, awaitLine } from "../../scenes/log-lines.ts";
import {
  openConnection,
  openTcp,
  readToEnd,
} from "../../scenes/raw-connection.ts";
import { startOrigin } from "../../scenes/world.ts";

const folder = "/providers/registry.terraform.io/acme/demo/";
/** More than the buffers of both ends of a connection hold. */
const size = 48 * 1024 * 1024;

const { registry, config } = await startOrigin();
await registry.publish({ type: "demo", version: "1.2.3", size });
const limits = { clientHeaders: 400, rateWindow: 400 };
const secure = await startMirror({ config, limits });
const plain = await startMirror({
  config: { ...config, listen: { port: 0, tls: "off" } },
  limits,
});

it("a client that does not send its request in time is cut: after nothing, though it sends a header now and then, and half-way through a TLS handshake", async () => {
  for (const mirror of [secure, plain]) {
    const silent = await openConnection(mirror);
    expect(await readToEnd(silent)).toMatch(/^$|^HTTP\/1\.1 408 /);
    const socket = await openConnection(mirror);
    socket.write("GET /healthz HTTP/1.1\r\n");
    const more = setInterval(() => socket.write("X-More: a\r\n"), 100);
    const text = await readToEnd(socket);
    clearInterval(more);
    expect(text).toMatch(/^$|^HTTP\/1\.1 408 /);
  }
  const halfway = await openTcp(secure);
  halfway.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
  expect(await readToEnd(halfway)).toBe("");
});

it.each(["cold", "warm"])(
  "a client that does not take its answer is cut, and keeps no other one from it: %s",
  async (state) => {
    const path = `${folder}terraform-provider-demo_1.2.3_linux_amd64.zip`;
    for (const mirror of [secure, plain]) {
      if (state === "warm") await awaitHit(mirror, path);
      const before = mirror.log.length;
      const socket = await openConnection(mirror);
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      const { complete, outcome, bytes } = await awaitLine(
        mirror,
        ({ msg }) => msg === "request",
        before,
      );
      expect(complete).toBe(false);
      expect(outcome).toBe(state === "cold" ? "fetched" : "hit");
      expect(bytes).toBeLessThan(size);
      const text = await readToEnd(socket.resume());
      expect(text.length).toBeLessThan(size);
      expect((await mirror.get(path)).complete).toBe(true);
    }
  },
);

it("a body without a length that fails is a reset for a client of HTTP/1.0, which knows no chunks", async () => {
  const name = { type: "torn", version: "1.0.0" };
  const release = await registry.publish({ ...name, size: 9_000_000 });
  const torn = all(chunked, alteredByte(100));
  registry.script("archive", onlyFor(/_torn_|-torn_/, torn));
  const { filename } = release.archive("linux_amd64");
  const path = `${folder.replace("demo", "torn")}${filename}`;
  const socket = await openConnection(plain);
  socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
  const reset = Promise.withResolvers<unknown>();
  socket.once("error", reset.resolve).once("end", () => reset.resolve("end"));
  socket.resume();
  expect(await reset.promise).toMatchObject({ code: "ECONNRESET" });
});

it("one connection too many is closed, until one of them ends", async () => {
  const mirror = await startMirror({ config: { limits: { connections: 3 } } });
  const open = async () => (await openTcp(mirror)).on("error", () => undefined);
  const held = await Promise.all([open(), open(), open()]);
  for (let count = 0; count < 5; count++) {
    const closed = (await open()).resume();
    await new Promise((resolve) => closed.once("close", resolve));
  }
  for (const socket of held) socket.destroy();
  const status = () =>
    mirror.get("/healthz").then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(status, { timeout: 30_000 }).toBe(200);
});
