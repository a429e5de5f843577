import { describe, expect, it } from "vitest";
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

describe("a client that does not send its request in time", () => {
  it.each([
    ["nothing", ""],
    ["half a line", "GET /heal"],
    ["headers without an end", "GET /healthz HTTP/1.1\r\nHost: a\r\n"],
  ])("is cut after %s", async (_, text) => {
    for (const mirror of [secure, plain]) {
      const socket = await openConnection(mirror);
      socket.write(text);
      expect(await readToEnd(socket)).toMatch(/^$|^HTTP\/1\.1 408 /);
    }
  });

  it("is cut even if it sends a header now and then", async () => {
    const socket = await openConnection(plain);
    socket.write("GET /healthz HTTP/1.1\r\n");
    const more = setInterval(() => socket.write("X-More: a\r\n"), 100);
    const text = await readToEnd(socket);
    clearInterval(more);
    expect(text).toMatch(/^$|^HTTP\/1\.1 408 /);
  });

  it.each([
    ["without", []],
    ["half-way through", [0x16, 0x03, 0x01, 0x02, 0x00]],
  ])("is cut %s a TLS handshake", async (_, bytes) => {
    const socket = await openTcp(secure);
    socket.write(Buffer.from(bytes));
    expect(await readToEnd(socket)).toBe("");
  });
});

describe("a client that does not take its answer", () => {
  const path = `${folder}terraform-provider-demo_1.2.3_linux_amd64.zip`;

  it.each(["cold", "warm"])("is cut: %s", async (state) => {
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
    }
  });

  it("does not keep another client from the whole", async () => {
    const { body, complete } = await secure.get(path);
    expect(complete).toBe(true);
    expect(body.length).toBeGreaterThan(size);
  });
});

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
  registry.heal();
});

it.each(["self-signed", "off"])(
  "one connection too many is closed, until one of them ends (tls: %s)",
  async (tls) => {
    const listen = { port: 0, tls };
    const limits = { connections: 3 };
    const mirror = await startMirror({ config: { limits, listen } });
    const open = async () =>
      (await openTcp(mirror)).on("error", () => undefined);
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
  },
);
