import { expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import { openTcp } from "../../scenes/raw-connection.ts";

it.each(["self-signed", "off"])(
  "one connection too many is closed, until one of them ends (tls: %s)",
  async (tls) => {
    const listen = { port: 0, tls };
    const limits = { connections: 3 };
    const mirror = await startMirror({ config: { limits, listen } });
    const open = async () => {
      const socket = await openTcp(mirror);
      return socket.on("error", () => undefined);
    };
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
