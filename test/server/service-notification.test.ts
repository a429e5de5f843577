import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ServiceNotification } from "../../src/server/service-notification.ts";
import { endingWithTests } from "../child-process.ts";
import { scratch } from "../running-mirror.ts";

const missing = ["systemd-notify", "python3"].filter(
  (program) => spawnSync(program, ["--version"]).status !== 0,
);

// One line per datagram; barriers of systemd-notify are answered by closing what they carry.
const listener = `
import json, socket, sys
socket_ = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
socket_.bind(sys.argv[1])
print("listening", flush=True)
while True:
    message = socket_.recv(4096).decode()
    if message != "BARRIER=1":
        print(message.replace("\\n", " & "), flush=True)
`;

describe.skipIf(missing.length > 0)(
  missing.length === 0
    ? "a systemd socket"
    : `a systemd socket (NOT CHECKED: no ${missing.join(", ")})`,
  () => {
    /** A socket that is read until the test is over. */
    async function listen(watchdogMs?: number) {
      const socket = join(scratch("notify"), "socket");
      const args = ["-c", listener, socket];
      const receiver = spawn(...endingWithTests("python3", args), {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void receiver.kill("SIGKILL"));
      const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
      const next = async () => String((await lines.next()).value);
      expect(await next()).toBe("listening");
      const onFailure = (error: Error) => expect.fail(error.message);
      const systemd = new ServiceNotification({
        ...{ socket, watchdogMs, onFailure },
      });
      return { systemd, next };
    }

    it("hears every message in the order of the calls", async () => {
      const { systemd, next } = await listen();
      await Promise.all([
        systemd.ready("listening on 127.0.0.1:8443\nand more"),
        systemd.reloading(),
        systemd.ready("reloaded; $(touch x) 'quoted'"),
        systemd.stopping(),
      ]);
      for (const line of [
        "READY=1 & STATUS=listening on 127.0.0.1:8443 and more",
        "RELOADING=1",
        "READY=1 & STATUS=reloaded; $(touch x) 'quoted'",
        "STOPPING=1",
      ])
        expect(await next()).toBe(line);
    });

    it("hears signs of life, at half the interval, until they are stopped", async () => {
      const { systemd, next } = await listen(200);
      const started = performance.now();
      void systemd.ready("up");
      expect(await next()).toBe("READY=1 & STATUS=up");
      expect(await next()).toBe("WATCHDOG=1");
      expect(await next()).toBe("WATCHDOG=1");
      expect(performance.now() - started).toBeGreaterThanOrEqual(190);
      await systemd.stopping();
      let line = await next();
      while (line === "WATCHDOG=1") line = await next();
      expect(line).toBe("STOPPING=1");
    });
  },
);

it.each([
  ["does nothing where no socket is given", undefined, 0],
  ["reports messages that cannot be sent", "/nowhere/notify", 2],
])("%s", async (_, socket, count) => {
  const onFailure = vi.fn<(error: Error) => void>();
  const systemd = new ServiceNotification({
    ...{ socket, watchdogMs: undefined, onFailure },
  });
  await systemd.ready("up");
  await systemd.stopping();
  expect(onFailure).toHaveBeenCalledTimes(count);
});
