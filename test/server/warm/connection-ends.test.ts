import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readToEnd } from "../../scenes/raw-connection.ts";
import {
  ask,
  askOn,
  path,
  startWarmFront,
  type WarmFront,
} from "../../scenes/warm-front.ts";

describe.each([
  ["over TLS", true],
  ["without TLS", false],
])("a connection that has no answer yet, %s", (_, isSecure) => {
  let front: WarmFront;
  let socket: Socket;

  beforeEach(async () => {
    front = await startWarmFront(isSecure);
    await front.keep();
    socket = await front.open();
    socket.on("error", () => undefined);
  });

  afterEach(async () => {
    socket.destroy();
    await front.listener.close(0);
  });

  it("ends soon with the listener when it asks for nothing", async () => {
    await expectSoon(front.listener.close(10_000));
    expect(await readToEnd(socket)).toBe("");
  });

  it("is answered when its first request arrives as the listener closes", async () => {
    const closed = front.listener.close(10_000);
    const [text] = await askOn(socket, ask);
    await expectSoon(closed);
    expect([text?.slice(0, 12), front.read]).toEqual(["HTTP/1.1 200", [path]]);
  });

  it("has its line when its client leaves while the document is made", async () => {
    front.now = 250;
    const gate = Promise.withResolvers<undefined>();
    await new Promise<void>((asked) => {
      front.meanwhile = () => {
        asked();
        return gate.promise;
      };
      socket.write(ask);
    });
    socket.destroy();
    // The listener is done when the connection is gone on its side, too.
    await front.listener.close(10_000);
    gate.resolve(undefined);
    while (front.lines.length === 0) await once(front.log, "line");
    expect(front.lines).toMatchObject([{ complete: false, bytes: 0 }]);
  });
});

it("a connection whose TLS handshake ends when the listener has closed does not hold it up", async () => {
  const front = await startWarmFront(true);
  await front.keep();
  const { remotePort: port = 0 } = await front.open();
  const accepted = connect({ host: "127.0.0.1", port });
  // Connections are accepted in their order.
  await Promise.all([once(accepted, "connect"), front.open()]);
  const closed = front.listener.close(10_000);
  const options = { socket: accepted, rejectUnauthorized: false };
  const [text] = await askOn(connectTls(options), ask);
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  await expectSoon(closed);
});

async function expectSoon(closed: Promise<void>): Promise<void> {
  const start = performance.now();
  await closed;
  expect(performance.now() - start).toBeLessThan(5_000);
}
