import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  appendFile,
  readdir,
  rename,
  rm,
  truncate,
  writeFile,
} from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifyLog } from "../../../src/telemetry/audit/verify-log.ts";
import { effort } from "../../effort.ts";
import { endingWithTests } from "../../child-process.ts";
import {
  AuditDirectory,
  durable,
  entry,
  numbers,
  guarding,
} from "../audit-directory.ts";

let audit: AuditDirectory;
beforeEach(async () => {
  audit = await AuditDirectory.create();
});
afterEach(() => audit.remove());

const keep = 100;

function verify(path = audit.path) {
  return verifyLog({ path, keep, ...guarding(path) });
}

async function write(from: number, to: number, settings = {}) {
  const log = audit.open({ keep, ...guarding(audit.path), ...settings });
  for (const id of numbers(from, to)) await log.record(entry(id), durable);
  await log.close();
}

describe("a chained log", () => {
  it("says in each line the SHA-256 of the one before, as sha256sum computes it", async () => {
    await write(1, 20);
    const lines = await audit.readLines();
    let prev = "0".repeat(64);
    for (const [index, line] of lines.entries()) {
      expect(JSON.parse(line)).toMatchObject({ seq: index + 1, prev });
      prev = createHash("sha256").update(line).digest("hex");
    }
  });

  it("goes on in the next file when any process moved one aside", async () => {
    await write(1, 30, { maxSize: 2_000 });
    await write(31, 60, { maxSize: 2_000 });
    expect((await readdir(audit.folder)).length).toBeGreaterThan(5);
    const found = await verify();
    expect(found.breaks).toEqual([]);
    expect(found.lines).toBeGreaterThanOrEqual(60);
  });

  it("goes on when a process was killed between moving a file aside and making the new one", async () => {
    await write(1, 5);
    await rename(audit.path, `${audit.path}.1`);
    await write(6, 9);
    expect((await verify()).breaks).toEqual([]);
    expect(await audit.readIds()).toContain(6);
  });

  it("drops what a killed process left without its end, and goes on", async () => {
    await write(1, 3);
    for (const torn of ['{"at":"2026-11-21T09:00:00.000Z","eve', "{"]) {
      await appendFile(audit.path, torn);
      expect(await verify()).toMatchObject({ breaks: [], lines: 3 });
    }
    await write(4, 5);
    expect(await verify()).toMatchObject({ breaks: [], lines: 5 });
    expect(await audit.readIds()).toEqual([1, 2, 3, 4, 5]);
  });

  it("drops unfinished lines that are longer than what is read at once", async () => {
    await write(1, 3);
    await appendFile(audit.path, "x".repeat(300_000));
    await write(4, 5);
    expect(await verify()).toMatchObject({ breaks: [], lines: 5 });
  });

  it("has its earlier heads, each of which names all lines before it", async () => {
    await write(1, 3);
    const { head } = await verify();
    await write(4, 5);
    const wanted = new Set([head, "0".repeat(64)]);
    const found = await verifyLog(
      { path: audit.path, keep, ...guarding(audit.path) },
      wanted,
    );
    expect([...found.found]).toEqual([head]);
  });

  it.each([
    ["a line that is no part of the chain", '{"event":"approved"}\n'],
    ["what is no line of a log", "hello\n"],
  ])("finds %s between its lines", async (_, text) => {
    await write(1, 4);
    const lines = await audit.readLines();
    lines.splice(2, 0, text.trimEnd());
    await writeFile(audit.path, `${lines.join("\n")}\n`);
    const { breaks } = await verify();
    expect(breaks).toEqual([
      expect.objectContaining({ kind: "changed", line: 3 }),
    ]);
  });

  it("does not take over an entry that another program appended", async () => {
    await write(1, 2);
    await appendFile(audit.path, '{"event":"approved"}\n');
    await write(3, 4);
    const { breaks } = await verify();
    expect(breaks).toEqual([
      expect.objectContaining({ kind: "changed", line: 3 }),
    ]);
  });

  it("shows that lines were cut off while it is written", async () => {
    const log = audit.open(guarding(audit.path));
    for (const id of numbers(1, 5)) await log.record(entry(id), durable);
    const [first = ""] = await audit.readLines();
    await truncate(audit.path, first.length + 1);
    await log.record(entry(6), durable);
    await log.close();
    const { breaks } = await verify();
    expect(breaks).toEqual([
      expect.objectContaining({ kind: "dropped", line: 2 }),
    ]);
  });

  it("misses older files that left before their time", async () => {
    await write(1, 60, { maxSize: 2_000 });
    const oldest = numbers(1, 99).findLast((n) =>
      existsSync(`${audit.path}.${n}`),
    );
    await rm(`${audit.path}.${oldest}`);
    const { breaks } = await verify();
    expect(breaks).toEqual([
      expect.objectContaining({ kind: "dropped", line: 1 }),
    ]);
  });
});

/** A process that appends to a log until it is killed. */
function startWriter(maxSize?: number) {
  const script = fileURLToPath(
    new URL("../audit-lines-process.ts", import.meta.url),
  );
  const args = maxSize === undefined ? [] : [String(maxSize)];
  const child = spawn(
    ...endingWithTests(process.execPath, [script, audit.path, ...args]),
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const counted = async (count: number) => {
    for await (const line of createInterface({ input: child.stdout }))
      if (Number(line) >= count) break;
    child.stdout.resume();
  };
  const end = async (signal: NodeJS.Signals) => {
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  return { counted, end };
}

it("a log that moves files aside while it is read is whole at any time", async () => {
  const log = audit.open({ ...guarding(audit.path), maxSize: 10_000, keep });
  const written = (async () => {
    for (const id of numbers(1, 450)) await log.record(entry(id), durable);
  })();
  const end = new AbortController();
  void written.then(() => end.abort());
  while (!end.signal.aborted) {
    expect((await verify()).breaks).toEqual([]);
    await new Promise(setImmediate);
  }
  await log.close();
  expect(await verify()).toMatchObject({ breaks: [], lines: 450 });
  expect((await readdir(audit.folder)).length).toBeGreaterThan(4);
});

it("a process that is killed again and again leaves nothing wrong", async () => {
  for (let round = 0; round < 10 * effort; round++) {
    const writer = startWriter(20_000);
    await writer.counted(5);
    await writer.end("SIGKILL");
  }
  const found = await verify();
  expect(found.breaks).toEqual([]);
  expect(found.lines).toBeGreaterThan(45);
}, 600_000);
