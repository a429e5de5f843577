import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import {
  startBounded,
  type ProcessBounds,
} from "../../../src/origin/git/git-process.ts";
import { scratch } from "../../running-mirror.ts";

const bounds = { memory: 2 ** 28, seconds: 30, fileBytes: 2 ** 20 };

async function run(
  command: readonly string[],
  other: Partial<ProcessBounds> = {},
) {
  const place = { folder: scratch("bounded"), env: { PATH: process.env.PATH } };
  const child = startBounded(command, { ...bounds, ...other }, place);
  child.stdin.end("from stdin");
  const [printed, said, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.ended,
  ]);
  return { printed, said, status };
}

describe("a bounded process", () => {
  it("has bounds of memory, time and files, and reads what it is sent", async () => {
    const script = "ulimit -v; ulimit -t; ulimit -f; ulimit -c; cat";
    const { printed, status } = await run(["sh", "-c", script]);
    expect(printed).toBe(`${2 ** 18}\n30\n2048\n0\nfrom stdin`);
    expect(status).toBe(0);
  });

  it("gets its arguments as they are, and its status is returned", async () => {
    const odd = ["$(id)", "`id`", "; id", "a b", "", "*", "-c", "'\"\n"];
    const print = "for one; do printf '%s|' \"$one\"; done; exit 7";
    const { printed, status } = await run(["sh", "-c", print, "sh", ...odd]);
    expect(printed).toBe(`${odd.join("|")}|`);
    expect(status).toBe(7);
  });

  it.each([
    ["memory", "dd if=/dev/zero of=/dev/null bs=1G count=1", {}],
    ["file size", "dd if=/dev/zero of=large bs=64k count=32", {}],
    ["time", "while :; do :; done", { seconds: 1 }],
  ])("ends beyond its bound of %s", async (_, script, other) => {
    const { status } = await run(["sh", "-c", script], other);
    expect(status).not.toBe(0);
  });

  it("says that there is no such program", async () => {
    expect((await run(["no-such-program"])).status).toBe(127);
  });
});
