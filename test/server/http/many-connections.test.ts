import { type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { openTcp } from "../../scenes/raw-connection.ts";
import { startOrigin } from "../../scenes/world.ts";

const { registry, config } = await startOrigin();
await registry.publish({ type: "demo", version: "1.2.3" });

const start = (limits: object, listen: object = {}) =>
  startMirror({
    config: { ...config, limits, listen: { port: 0, ...listen } },
  });

describe("more connections than there may be", () => {
  async function open(mirror: RunningMirror): Promise<Socket> {
    const socket = await openTcp(mirror);
    return socket.on("error", () => undefined);
  }

  it.each(["self-signed", "off"])(
    "have one too many closed, until one of them ends (tls: %s)",
    async (tls) => {
      const mirror = await start({ connections: 3 }, { tls });
      const held = await Promise.all([
        open(mirror),
        open(mirror),
        open(mirror),
      ]);
      for (let count = 0; count < 5; count++) {
        const closed = (await open(mirror)).resume();
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
});
