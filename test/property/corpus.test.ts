import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findRoots } from "../../src/commands/inputs/configuration.ts";
import {
  formatLockFile,
  parseLockFile,
} from "../../src/commands/inputs/dependency-lock-file.ts";
import { decideSignature } from "../../src/verification/signature-worker.ts";
import { scratch } from "../running-mirror.ts";

const now = new Date("2026-11-21T00:00:00Z");

interface Signed {
  readonly name: string;
  /** File names below `keys/`. */
  readonly keys: readonly string[];
  readonly document: string;
  readonly signature: string;
  readonly answer: string;
  /** Ours, where it is another one. */
  readonly differs?: string;
}

const corpus = join(import.meta.dirname, "..", "corpus");

function readText(...path: readonly string[]): string {
  return readFileSync(join(corpus, ...path), "utf8");
}

const signed = readText("signatures.jsonl")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Signed);

describe("real signatures", () => {
  it.each(signed)("are decided as go-crypto decides: $name", async (one) => {
    const [decision, enforced] = await Promise.all(
      (["terraform", "enforce"] as const).map((profile) =>
        decideSignature({
          keys: one.keys.map((name) => readText("keys", `${name}.asc`)),
          document: Buffer.from(one.document, "base64"),
          signature: Buffer.from(one.signature, "base64"),
          ...{ profile, now },
        }),
      ),
    );
    const reasonOf = (of = decision) => of && "reason" in of && of.reason;
    const isKeyOver = reasonOf(enforced) === "key-expired";
    const isOver = reasonOf() === "signature-expired";
    const accepted = isKeyOver ? "keyExpired" : "ok";
    const refused = isOver ? "sigExpired" : "refused";
    expect(decision?.accepted ? accepted : refused).toBe(
      one.differs ?? one.answer,
    );
  });
});

const lockFiles = readdirSync(join(corpus, "lock-files"));

describe("real lock files", () => {
  it.each(lockFiles)(
    "are read whole and written as they are: %s",
    async (name) => {
      const text = readText("lock-files", name);
      const file = await parseLockFile(name, text);
      expect(file.problems).toEqual([]);
      expect(file.locks).toHaveLength(
        [...text.matchAll(/^provider /gm)].length,
      );
      const hashes = file.locks.flatMap((lock) => lock.hashes);
      expect(hashes).toHaveLength([...text.matchAll(/"(?:h1|zh):/g)].length);
      const client = text.includes('"tofu init"') ? "tofu" : "terraform";
      const blocks = (all: string) => all.slice(all.indexOf("provider "));
      expect(blocks(formatLockFile(client, file.locks))).toBe(
        blocks(text.slice(text.search(/^provider /m))),
      );
    },
  );
});

describe("a real configuration", () => {
  it("requires what its lock file has, in each case of letters", async () => {
    const directory = scratch("corpus");
    const from = (...path: readonly string[]) => join(corpus, ...path);
    copyFileSync(from("thirteen-providers.tf"), join(directory, "main.tf"));
    const open = () => Promise.reject(new Error("it calls no module"));
    const find = async () => {
      const { roots, problems } = await findRoots(directory, open);
      expect(problems).toEqual([]);
      return roots[0];
    };
    const required = (await find())?.requirements.map(({ name }) => name);
    expect(required).toHaveLength(13);
    const lock = from("lock-files", "thirteen-providers.hcl");
    copyFileSync(lock, join(directory, ".terraform.lock.hcl"));
    const root = await find();
    expect(root?.client).toBe("tofu");
    const locked = root?.locks?.locks.map(({ name }) => name);
    expect(locked?.toSorted()).toEqual(required?.toSorted());
    // What is locked is not required beside that.
    expect(root?.requirements).toEqual([]);
  });
});
