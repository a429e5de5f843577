import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startMirror, type RunningMirror } from "../running-mirror.ts";
import { awaitLine, type LogLine } from "../scenes/log-lines.ts";

const isAlarm = ({ alarm }: LogLine) => alarm === "unexpected-error";

/** A daemon in which a flaw shows on SIGUSR2, and another one from the start. */
function startFlawed(flaw: string, lasting = ""): Promise<RunningMirror> {
  const code = `process.on("SIGUSR2", () => { ${flaw} }); ${lasting}`;
  return startMirror({
    config: { listen: { port: 0, tls: "off" } },
    // Flaws find their place by the names of source files.
    program: join(import.meta.dirname, "..", "..", "src", "main.ts"),
    nodeOptions: [
      "--import",
      `data:text/javascript,${encodeURIComponent(code)}`,
    ],
  });
}

it.each([
  ["an uncaught error", 'throw new Error("a flaw")'],
  ["an unhandled rejection", 'Promise.reject(new Error("a flaw"))'],
  ["a value that is no error", "setTimeout(() => { throw undefined })"],
])(
  "after %s it raises the alarm, finishes and ends with status 1",
  async (_, flaw) => {
    const mirror = await startFlawed(flaw);
    const exit = once(mirror.process, "exit");
    mirror.process.kill("SIGUSR2");
    expect(await awaitLine(mirror, isAlarm)).toMatchObject({
      where: "process",
    });
    expect(await exit).toEqual([1, null]);
    expect(mirror.log.map(({ msg }) => msg)).toContain("stopped");
  },
);

describe("a request that no code foresaw the end of", () => {
  const throwing = (when: string) => `{
    const { stringify } = JSON;
    JSON.stringify = (value, ...more) => {
      if (${when}) throw new Error("a flaw");
      return stringify(value, ...more);
    };
  }`;

  it.each([
    ["in a handler", throwing('value?.status === "ok"'), "/healthz"],
    [
      "in what makes the answer to an error",
      throwing('value?.code === "no-such-page"'),
      "/nothing",
    ],
    [
      "before its client is known",
      `const { randomUUID } = crypto;
      crypto.randomUUID = () => {
        const error = new Error("a flaw");
        // Its own address has this text, too.
        if (/server.app[.]ts/.test(error.stack)) throw error;
        return randomUUID.call(crypto);
      };`,
      "/healthz",
    ],
  ])(
    "because of an error %s is answered 500 and raises the alarm, once for the same",
    async (_, flaw, path) => {
      const mirror = await startFlawed("", flaw);
      for (let time = 0; time < 3; time++)
        expect((await mirror.get(path)).status).toBe(500);
      await awaitLine(mirror, isAlarm);
      expect(mirror.log.filter(isAlarm)).toMatchObject([
        { where: "request", err: { message: "a flaw" } },
      ]);
      expect(mirror.process.exitCode).toBe(null);
    },
  );
});
