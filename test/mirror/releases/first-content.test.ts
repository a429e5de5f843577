import { describe, expect, it } from "vitest";
import { claimFirst } from "../../../src/mirror/releases/first-content.ts";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { address } from "../../scenes/believed-releases.ts";
import { judgeFor, sketch } from "../../scenes/release-sketches.ts";
import { makeLayout } from "../../store/stores.ts";

const now = new Date("2026-05-01T00:00:00Z");

/** Claims a release whose ledger begins so. */
async function prepare(begin: () => Promise<void>) {
  const records = new ReleaseRecords(new DiskRecords(await makeLayout()), {
    judge: judgeFor("K"),
    policyOf: () => ({ signatures: "required", profile: "terraform" }),
    clock: { now: () => now, monotonic: () => 0 },
  });
  const untold: string[] = [];
  const onUnwritten = (record: string) => void untold.push(record);
  const claim = async (content: string) =>
    claimFirst(
      { records, onUnwritten },
      { address, entry: { begin } },
      await sketch({ by: "K", content }),
      now,
    );
  return { records, untold, claim };
}

const failing = (code: string) => () =>
  Promise.reject(Object.assign(new Error(code), { code, syscall: "open" }));

describe("the first content of a release", () => {
  it("is recorded once the ledger of its namespace has begun, and is what others are told", async () => {
    const before: unknown[] = [];
    const { records, claim } = await prepare(async () => {
      before.push(await records.stamp(address));
    });
    expect(await claim("linux=a")).toBeUndefined();
    expect(before).toEqual([undefined]);
    const first = (await records.read(address))?.value;
    expect(first).toBeDefined();
    expect(await claim("linux=b")).toEqual(first);
  });

  it.each(["ENOSPC", "EROFS", "EACCES"])(
    "is good all the same where the disk takes no ledger (%s), and is not recorded without one",
    async (code) => {
      const { records, untold, claim } = await prepare(failing(code));
      expect(await claim("linux=a")).toBeUndefined();
      expect(untold).toEqual([records.format(address)]);
      expect(await records.stamp(address)).toBeUndefined();
    },
  );

  it("is refused where its ledger was lost", async () => {
    const lost = new Error("the ledger was lost");
    const { records, claim } = await prepare(() => Promise.reject(lost));
    await expect(claim("linux=a")).rejects.toBe(lost);
    expect(await records.stamp(address)).toBeUndefined();
  });
});
