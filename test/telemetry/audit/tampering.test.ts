import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyLog } from "../../../src/telemetry/audit/verify-log.ts";
import { effort } from "../../effort.ts";
import {
  AuditDirectory,
  durable,
  entry,
  numbers,
  guarding,
} from "../audit-directory.ts";
import { randomFrom, tamper, tamperings } from "./tampered-log.ts";

let good: AuditDirectory;
let copy: AuditDirectory;

/** One log has all its files, of another one the oldest have left. */
describe.each([
  ["with all its files", 9],
  ["whose oldest files have left", 2],
])("a log %s", (_, keep) => {
  /** Rotated and restarted. */
  beforeAll(async () => {
    good = await AuditDirectory.create();
    copy = await AuditDirectory.create();
    for (const start of [1, 11, 26, 27, 50]) {
      const settings = {
        keep,
        maxSize: keep === 2 ? 3_000 : 6_000,
        ...guarding(good.path),
      };
      const log = good.open(settings);
      for (const id of numbers(start, start + 14))
        await log.record(entry(id), durable);
      await log.close();
    }
  });

  afterAll(async () => {
    await good.remove();
    await copy.remove();
  });

  /** The files of a log, oldest first. */
  function filesOf({ path }: AuditDirectory): readonly string[] {
    const older = numbers(1, keep).map((number) => `${path}.${number}`);
    return [...older.toReversed(), path].filter((file) => existsSync(file));
  }

  function restore(): void {
    for (const name of readdirSync(copy.folder))
      rmSync(join(copy.folder, name), { recursive: true });
    cpSync(good.folder, copy.folder, { recursive: true });
  }

  /** With the head of the good log as a witness from elsewhere. */
  const verify = async () => {
    const { head } = await check(good);
    const findings = await check(copy, new Set([head]));
    const { breaks, found } = findings;
    return { ...findings, isFound: breaks.length > 0 || found.size === 0 };
  };

  const check = ({ path }: AuditDirectory, heads?: ReadonlySet<string>) =>
    verifyLog({ path, keep, ...guarding(path) }, heads);

  const linesIn = (file: string) =>
    readFileSync(file, "latin1").split("\n").length - 1;

  describe("with one line that is not what was written", () => {
    it("is found whole before anything is done to it", async () => {
      restore();
      const found = await verify();
      expect(found).toMatchObject({ breaks: [], isFound: false });
      expect(filesOf(copy).length).toBeGreaterThan(2);
    });

    it.each(tamperings)(
      "is found each time, with its file and a line near it: %s",
      async (how) => {
        const tries = Math.round(50 * Math.min(1, effort));
        const random = randomFrom(tamperings.indexOf(how) + 1);
        for (let count = 0; count < tries; count++) {
          restore();
          const files = filesOf(copy);
          const file = files[Math.floor(random() * files.length)] ?? "";
          const lines = linesIn(file) - (how === "swapped" ? 1 : 0);
          // Where the oldest files have left, the first line may be any.
          const isOldest = keep === 2 && file === files[0];
          const from = isOldest && how === "dropped" ? 1 : 0;
          const index = from + Math.floor(random() * (lines - from));
          tamper(file, index, how, random);
          const { breaks, isFound } = await verify();
          const what = `${how} ${file}:${index + 1}`;
          expect(isFound, what).toBe(true);
          const isNear =
            breaks.length === 0 ||
            breaks.some(
              (found) =>
                Math.abs(found.line - index - 1) <= 1 ||
                found.line === 1 ||
                found.file !== file,
            );
          expect(isNear, `${what}: ${JSON.stringify(breaks)}`).toBe(true);
        }
      },
      120_000,
    );

    it.each([
      [
        "the whole log is gone",
        () => {
          for (const file of filesOf(copy)) rmSync(file);
        },
      ],
      ["its newest file is gone", () => rmSync(copy.path)],
      ["its oldest file is gone", () => rmSync(filesOf(copy)[0] ?? "")],
      ["a file in the middle is gone", () => rmSync(filesOf(copy)[1] ?? "")],
      [
        "a file is there twice",
        () => {
          const [, one = "", other = ""] = filesOf(copy);
          copyFileSync(one, other);
        },
      ],
    ])("is found when %s", async (_, change) => {
      restore();
      change();
      expect((await verify()).isFound).toBe(true);
    });

    it("is found by its head when the chain was made again", async () => {
      restore();
      const forger = await AuditDirectory.create();
      const log = forger.open({ keep, ...guarding(forger.path) });
      for (const id of numbers(1, 70)) await log.record(entry(id), durable);
      await log.close();
      for (const file of filesOf(copy)) rmSync(file);
      copyFileSync(forger.path, copy.path);
      const { breaks, found } = await verify();
      expect([breaks, [...found]]).toEqual([[], []]);
      await forger.remove();
    });

    it("stays found after others were written", async () => {
      restore();
      const files = filesOf(copy);
      tamper(files.at(-1) ?? "", 3, "cut", randomFrom(1));
      const log = copy.open({ keep, ...guarding(copy.path) });
      for (const id of numbers(1, 30)) await log.record(entry(id), durable);
      await log.close();
      expect((await verify()).isFound).toBe(true);
    });
  });
});
