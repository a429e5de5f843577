import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  appendFile,
  readdir,
  readFile,
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
  signing,
} from "../audit-directory.ts";

let audit: AuditDirectory;
beforeEach(async () => {
  audit = await AuditDirectory.create();
});
afterEach(() => audit.remove());

const keep = 100;

function verify(path = audit.path) {
  return verifyLog({ path, keep, ...signing(path) });
}

async function write(from: number, to: number, settings = {}) {
  const log = audit.open({ keep, ...signing(audit.path), ...settings });
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

  it("goes on in the next file when one moved aside, whoever does that", async () => {
    await write(1, 30, { maxSize: 4_000 });
    await write(31, 60, { maxSize: 4_000 });
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

  it("starts from the lines of earlier versions, in all their files, and misses any of them", async () => {
    await writeFile(`${audit.path}.2`, '{"old":1}\n{"old":2}\n');
    await writeFile(`${audit.path}.1`, '{"old":3}\n');
    await writeFile(audit.path, '{"old":4}\n{"old":5');
    await write(1, 3);
    expect(await verify()).toMatchObject({ breaks: [], unchained: 5 });
    for (const [file, text] of [
      [`${audit.path}.2`, '{"old":1}\n'],
      [`${audit.path}.1`, '{"old":4}\n'],
    ] as const) {
      const was = await readFile(file, "utf8");
      await writeFile(file, text);
      const { breaks } = await verify();
      expect(breaks[0]).toMatchObject({ kind: "changed", line: 1 });
      await writeFile(file, was);
    }
    await rm(`${audit.path}.2`);
    expect((await verify()).breaks).toHaveLength(1);
  });

  it("says where a line was cut short, and finds nothing wrong with it", async () => {
    await write(1, 3);
    await appendFile(audit.path, '{"at":"2026-11-21T09:00:00.000Z","eve');
    expect(await verify()).toMatchObject({
      breaks: [],
      torn: [{ file: "audit.jsonl", line: 5 }],
    });
    await write(4, 5);
    await appendFile(audit.path, "\n{");
    await write(6, 7);
    const found = await verify();
    expect(found.breaks).toEqual([]);
    expect(found.torn.map(({ line }) => line)).toContain(5);
    expect(found.torn.length).toBeGreaterThanOrEqual(2);
  });

  it("goes on after a whole line that only lost its newline", async () => {
    await write(1, 3);
    await truncate(audit.path, (await readFile(audit.path)).length - 1);
    await write(4, 5);
    expect(await verify()).toMatchObject({ breaks: [], torn: [] });
  });

  it.each([
    ["a line that is no part of the chain", '{"event":"approved"}\n'],
    ["what no version wrote", "hello\n"],
  ])(
    "finds %s between its lines, or tells it as cut short before a line that names it",
    async (_, text) => {
      await write(1, 4);
      const lines = await audit.readLines();
      lines.splice(2, 0, text.trimEnd());
      await writeFile(audit.path, `${lines.join("\n")}\n`);
      const { breaks } = await verify();
      expect(breaks).toEqual([
        expect.objectContaining({ kind: "inserted", line: 3 }),
      ]);
    },
  );

  it("does not take over an entry that somebody else appended", async () => {
    await write(1, 2);
    await appendFile(audit.path, '{"event":"approved"}\n');
    await write(3, 4);
    const { breaks } = await verify();
    expect(breaks).toEqual([
      expect.objectContaining({ kind: "inserted", line: 4 }),
    ]);
  });

  it("shows that lines were cut off while it is written", async () => {
    const log = audit.open(signing(audit.path));
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
    await write(1, 60, { maxSize: 4_000 });
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

/** Processes that append to one log until they are killed, or asked to stop. */
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

describe("processes that append to one log", () => {
  it("make one chain, whichever of them moves files aside, and readers see it whole at any time", async () => {
    const writers = [1, 2, 3].map(() => startWriter(20_000));
    const done = Promise.all(writers.map((writer) => writer.counted(150)));
    const end = new AbortController();
    void done.then(() => end.abort());
    while (!end.signal.aborted) {
      expect((await verify()).breaks).toEqual([]);
      await new Promise(setImmediate);
    }
    await Promise.all(writers.map((writer) => writer.end("SIGTERM")));
    const found = await verify();
    expect(found).toMatchObject({ breaks: [], torn: [] });
    expect(found.lines).toBeGreaterThan(450);
    expect((await readdir(audit.folder)).length).toBeGreaterThan(4);
  });

  it("leave nothing wrong when they are killed again and again", async () => {
    for (let round = 0; round < 5 * effort; round++) {
      const writers = [startWriter(20_000), startWriter(20_000)];
      await Promise.all(writers.map((writer) => writer.counted(5)));
      await Promise.all(writers.map((writer) => writer.end("SIGKILL")));
    }
    const found = await verify();
    expect(found.breaks).toEqual([]);
    expect(found.lines).toBeGreaterThan(45);
  }, 600_000);
});
