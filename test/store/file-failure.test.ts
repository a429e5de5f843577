import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, it } from "vitest";
import type { Hostname } from "../../src/address/hostname.ts";
import { failing } from "../scenes/failing.ts";
import { TrustStore } from "../../src/mirror/trust/trust-store.ts";
import {
  classifyFileFailure,
  refuseToStore,
} from "../../src/store/file-failure.ts";
import { layOutStore } from "../../src/store/layout.ts";
import { DiskRecords } from "../../src/store/records/disk-records.ts";
import { prepareStorageDirectory } from "../../src/store/storage-directory.ts";
import { noDecisions } from "../../src/trust/decisions.ts";
import { revokeK } from "../scenes/trust-records.ts";
import { mountSmallDisk } from "../small-disk.ts";

function failure(code: string, text: string): Error {
  const message = `${code}: ${text}, write '/var/lib/provender/staging/x'`;
  return Object.assign(new Error(message), { code, syscall: "write" });
}

describe("what cannot be stored", () => {
  it.each([
    ["ENOSPC", "no space left on device", "make room on the mirror's disk"],
    ["EDQUOT", "disk quota exceeded", "make room on the mirror's disk"],
    ["EIO", "i/o error", "look at the mirror's disk and at how it is mounted"],
    [
      "EROFS",
      "read-only file system",
      "look at the mirror's disk and at how it is mounted",
    ],
    ["EMFILE", "too many open files", "allow the mirror more open files"],
  ])("because of %s says so, and what cures that", (code, text, remedy) => {
    const { message } = refuseToStore("the archive", failure(code, text));
    expect(message).toContain(`cannot store the archive (${code}: ${text}): `);
    expect(message).toContain(remedy);
    expect(message).not.toContain("/var/lib");
  });
});

describe("a file that cannot be written and then not be closed either", () => {
  it("is refused for why it was not written", async () => {
    const writing = async () => {
      await using file: AsyncDisposable = {
        [Symbol.asyncDispose]: () =>
          Promise.reject(failure("EIO", "i/o error")),
      };
      throw Object.assign(failure("EDQUOT", "disk quota exceeded"), { file });
    };
    const error: unknown = await writing().catch((thrown: unknown) => thrown);
    expect(classifyFileFailure(error)).toBe("full");
    expect(refuseToStore("the archive", error).message).toContain(
      "(EDQUOT: disk quota exceeded): try again shortly, and make room",
    );
  });
});

const disk = mountSmallDisk("size=8m");
if (disk === undefined)
  console.log("SKIPPED: no file system of its own can be mounted here");
afterAll(() => disk?.unmount());

describe.runIf(disk !== undefined)("a decision on a disk", () => {
  it("that was mounted to be read only is named, with that cause and its remedy, after any earlier write", async () => {
    const directory = disk?.directory ?? "";
    const layout = layOutStore(directory);
    await prepareStorageDirectory(layout);
    const known = { hostname: "a.example" as Hostname, namespace: "known" };
    const store = new TrustStore(new DiskRecords(layout));
    await store.decide(known, revokeK);
    expect(spawnSync("mount", ["-o", "remount,ro", directory]).status).toBe(0);
    const change = () => noDecisions;
    for (const namespace of ["known", "other", "third"]) {
      const note = store.decide(
        { ...known, namespace },
        namespace === "known" ? change : revokeK,
      );
      const error: unknown = await note.catch((reason: unknown) => reason);
      expect(error).toEqual(failing("store-full"));
      expect((error as Error).message).toMatch(
        `cannot store the trust records of a.example/${namespace} (`,
      );
      expect((error as Error).message).toMatch(
        /read-?only.*: look at the mirror's disk and at how it is mounted\.$/i,
      );
    }
  });
});
