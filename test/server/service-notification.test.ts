import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ServiceNotification } from "../../src/server/service-notification.ts";
import { endingWithTests } from "../child-process.ts";

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
    let directory: string;
    let receiver: ChildProcess;
    let lines: AsyncIterator<string>;
    let reader: Interface;
    const failures: Error[] = [];

    beforeEach(async () => {
      failures.length = 0;
      directory = await mkdtemp(join(tmpdir(), "provender-notify-"));
      receiver = spawn(
        ...endingWithTests("python3", ["-c", listener, socket()]),
        {
          stdio: ["ignore", "pipe", "inherit"],
        },
      );
      if (receiver.stdout === null) throw new Error("no output to read");
      reader = createInterface(receiver.stdout);
      lines = reader[Symbol.asyncIterator]();
      expect(await nextLine()).toBe("listening");
    });
    afterEach(async () => {
      receiver.kill("SIGKILL");
      await once(receiver, "exit");
      reader.close();
      await rm(directory, { recursive: true });
    });

    function socket(): string {
      return join(directory, "notify");
    }

    async function nextLine(): Promise<string | undefined> {
      const next = await lines.next();
      return next.done === true ? undefined : next.value;
    }

    function notification(watchdogMs?: number): ServiceNotification {
      return new ServiceNotification({
        socket: socket(),
        watchdogMs,
        onFailure: (error) => failures.push(error),
      });
    }

    it("hears every message in the order of the calls", async () => {
      const systemd = notification();
      await Promise.all([
        systemd.ready("listening on 127.0.0.1:8443\nand more"),
        systemd.reloading(),
        systemd.ready("reloaded; $(touch x) 'quoted'"),
        systemd.stopping(),
      ]);
      expect(failures).toEqual([]);
      expect(await nextLine()).toBe(
        "READY=1 & STATUS=listening on 127.0.0.1:8443 and more",
      );
      expect(await nextLine()).toBe("RELOADING=1");
      expect(await nextLine()).toBe(
        "READY=1 & STATUS=reloaded; $(touch x) 'quoted'",
      );
      expect(await nextLine()).toBe("STOPPING=1");
    });

    it("hears signs of life, at half the interval, until they are stopped", async () => {
      const systemd = notification(200);
      const started = performance.now();
      systemd.startWatchdog();
      expect(await nextLine()).toBe("WATCHDOG=1");
      expect(await nextLine()).toBe("WATCHDOG=1");
      expect(performance.now() - started).toBeGreaterThanOrEqual(190);
      systemd.stopWatchdog();
      await systemd.stopping();
      let line = await nextLine();
      while (line === "WATCHDOG=1") line = await nextLine();
      expect(line).toBe("STOPPING=1");
    });
  },
);

it("does nothing where no socket is given", async () => {
  const systemd = new ServiceNotification({
    socket: undefined,
    watchdogMs: 2,
    onFailure: (error) => expect.unreachable(error.message),
  });
  systemd.startWatchdog();
  await systemd.ready("up");
  await systemd.stopping();
  systemd.stopWatchdog();
});

it("reports a message that cannot be sent and goes on", async () => {
  const failures: Error[] = [];
  const systemd = new ServiceNotification({
    socket: "/nowhere/notify",
    watchdogMs: undefined,
    onFailure: (error) => failures.push(error),
  });
  await systemd.ready("up");
  await systemd.stopping();
  expect(failures).toHaveLength(2);
  expect(failures[0]?.message).toMatch("systemd-notify");
});
