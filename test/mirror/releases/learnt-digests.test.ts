import { readdirSync } from "node:fs";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { PackageHash } from "../../../src/address/hash.ts";
import { parsePlatform } from "../../../src/address/platform.ts";
import { failure } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import {
  unhashableZip,
  WatchedThreads,
  zipOf,
} from "../../scenes/hashed-archives.ts";
import {
  ArchiveOrigin,
  linux,
  prepareLearning,
  recordKey,
  release,
  releaseOf,
  sending,
} from "../../scenes/learnt-digests.ts";
import { h1Of } from "../../scenes/release-sketches.ts";

const threads = new WatchedThreads();
beforeEach(() => threads.reset());
afterAll(() => threads.close());

const archive = zipOf("a");
const { bytes, sha256 } = archive;
const h1 = archive.h1 as PackageHash;
const [x, y] = [h1Of("x"), h1Of("y")];
const darwin = parsePlatform("darwin_arm64");

describe("a digest that is learnt", () => {
  it("is that of the archive that the origin sent, which is kept and recorded", async () => {
    const { learn, learning, blobs, records, reserved } =
      await prepareLearning(threads);
    const origin = sending(bytes, x, h1);
    expect(await learning.find(release, linux, [h1])).toBeUndefined();
    await learn(origin, [h1, y]);
    expect(await learning.find(release, linux, [h1])).toBe(sha256);
    expect(await blobs.size(sha256)).toBe(bytes.length);
    expect(await records.read(recordKey, (body) => body)).toEqual({
      packageHash: h1,
      sha256,
    });
    expect(reserved).toEqual([1_234]);
    expect(origin.asked).toEqual([
      [release, linux, expect.any(AbortSignal) as unknown],
    ]);
    expect(origin.asked[0]?.[2].aborted).toBe(false);
  });

  it("counts for its release, its platform and the h1 that it was learnt for", async () => {
    const { learn, learning } = await prepareLearning(threads);
    await learn(sending(bytes, h1), [h1]);
    const find = learning.find.bind(learning);
    expect(await find(release, linux, [x, h1, y])).toBe(sha256);
    expect(await find(release, linux, [x, y])).toBeUndefined();
    expect(await find(release, linux, [])).toBeUndefined();
    expect(await find(release, darwin, [h1])).toBeUndefined();
    const other = { ...release, version: "2.0.0" as typeof release.version };
    expect(await find(other, linux, [h1])).toBeUndefined();
    const elsewhere = releaseOf("registry.example.com", "other");
    expect(await find(elsewhere, linux, [h1])).toBeUndefined();
  });

  it.each([
    { packageHash: "h1:short", sha256 },
    { packageHash: h1, sha256: "short" },
    { packageHash: h1 },
    { sha256 },
    "text",
  ])("is unknown where its record says %j", async (body) => {
    const { learning, learn, records } = await prepareLearning(threads);
    await records.create(recordKey, body, () => body);
    await expect(learning.find(release, linux, [h1])).rejects.toThrow(
      failing("record-unreadable"),
    );
    await expect(learn(sending(bytes, h1), [h1])).rejects.toThrow(
      failing("record-unreadable"),
    );
  });

  it("is the first one of an h1, also beside others of the same content", async () => {
    const { learn, learning, blobs } = await prepareLearning(threads);
    const again = zipOf("a", true);
    expect(again).toMatchObject({ h1 });
    expect(again.sha256).not.toBe(sha256);
    await learn(sending(bytes, h1), [h1]);
    await learn(sending(again.bytes, h1), [h1]);
    expect(await learning.find(release, linux, [h1])).toBe(sha256);
    expect(await blobs.size(again.sha256)).toBe(again.bytes.length);
  });

  it("makes way for that of another h1 that was reported first", async () => {
    const { learn, learning } = await prepareLearning(threads);
    const other = zipOf("b");
    await learn(sending(bytes, h1), [h1]);
    await learn(sending(other.bytes, other.h1), [other.h1]);
    const told = other.h1 as PackageHash;
    expect(await learning.find(release, linux, [told])).toBe(other.sha256);
    expect(await learning.find(release, linux, [h1])).toBeUndefined();
  });
});

describe("an archive without any checksum", () => {
  it.each([
    ["the registry does not report with it now", [x, y], [h1], [x, y]],
    ["the registry did not report first", [h1], [x], [x]],
    ["the registry reported neither now nor first", [x], [y], [x]],
    ["has no report now", [], [h1], []],
    ["had no report first", [h1], [], []],
  ])("is refused, as one that %s", async (_, told, first, expected) => {
    const { learn, learning, blobs, recordOf, hashes } =
      await prepareLearning(threads);
    const refusal = await learn(sending(bytes, ...told), first).catch(
      (error: unknown) => error,
    );
    expect(refusal).toEqual(failing("archive-digest"));
    expect(refusal).toMatchObject({ got: h1 });
    const subject = "registry.example.com/acme/widget 1.0.0 for linux_amd64";
    expect((refusal as Error).message).toContain(
      `${subject} is refused (expected ${expected.join(" or ") || "h1: of the mirror itself"}, the origin sent ${h1})`,
    );
    expect(await learning.find(release, linux, [h1])).toBeUndefined();
    expect(await blobs.size(sha256)).toBeUndefined();
    expect(await recordOf(sha256)).toBeUndefined();
    expect(await hashes.isKnown(sha256)).toBe(false);
  });

  it("is refused where it has no h1", async () => {
    const { learn, blobs, hashes } = await prepareLearning(threads);
    const none = unhashableZip();
    const refusal = await learn(sending(none.bytes, x), [y]).catch(
      (error: unknown) => error,
    );
    expect(refusal).toEqual(failing("archive-digest"));
    const got = "an archive that has none";
    expect(refusal).toMatchObject({ got });
    expect(await blobs.size(none.sha256)).toBeUndefined();
    expect(await hashes.isKnown(none.sha256)).toBe(false);
  });

  it.each([
    ["is stored, with its h1", true, true, true, true],
    ["is stored, without its h1", true, false, true, true],
    ["left, and its h1 is known", false, true, false, true],
    ["was never here", false, false, false, false],
  ])(
    "leaves what others have of it as it was, where it %s",
    async (_, isStored, isKnown, stays, staysKnown) => {
      const { learn, blobs, hashes, store } = await prepareLearning(threads);
      await store(archive);
      if (isKnown) await hashes.find(sha256);
      if (!isStored) await blobs.delete(sha256);
      await expect(learn(sending(bytes, x), [x])).rejects.toThrow(
        failing("archive-digest"),
      );
      expect((await blobs.size(sha256)) !== undefined).toBe(stays);
      expect(await hashes.isKnown(sha256)).toBe(staysKnown);
    },
  );
});

describe("an archive that does not arrive", () => {
  it("is not there in part, and can be learnt later", async () => {
    const { learn, learning, layout } = await prepareLearning(threads);
    const failure = new Error("the connection was lost");
    const cut = new ArchiveOrigin(
      async function* () {
        yield bytes.subarray(0, 9);
        await Promise.reject(failure);
      },
      [h1],
    );
    await expect(learn(cut, [h1])).rejects.toBe(failure);
    expect(await learning.find(release, linux, [h1])).toBeUndefined();
    expect(readdirSync(layout.staging)).toEqual([]);
    await learn(sending(bytes, h1), [h1]);
    expect(await learning.find(release, linux, [h1])).toBe(sha256);
  });

  it("is refused where there is no room for it", async () => {
    const { learn, layout } = await prepareLearning(threads, {}, false);
    const refusal = await learn(sending(bytes, h1), [h1]).catch(
      (error: unknown) => error,
    );
    expect(refusal).toEqual(failing("store-full"));
    expect(refusal).toMatchObject({ subject: "the archive" });
    expect(readdirSync(layout.staging)).toEqual([]);
  });

  it("fails with what the origin says", async () => {
    const { learn } = await prepareLearning(threads);
    const absence = failure("not-found", "it");
    const openUnnamed = () => Promise.reject(absence);
    await expect(learn({ openUnnamed }, [h1])).rejects.toBe(absence);
  });
});
