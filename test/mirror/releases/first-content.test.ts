import { describe, expect, it } from "vitest";
import { claimFirst } from "../../../src/mirror/releases/first-content.ts";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import type { StoreLayout } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { address } from "../../scenes/believed-releases.ts";
import { digestOf, judgeFor, sketch } from "../../scenes/release-sketches.ts";
import { makeLayout } from "../../store/stores.ts";

const now = new Date("2026-05-01T00:00:00Z");

/** Claims a release whose ledger begins so. */
async function prepare(
  begin: () => Promise<void>,
  chooseRecords = (layout: StoreLayout) => new DiskRecords(layout),
) {
  const stored = chooseRecords(await makeLayout());
  const records = new ReleaseRecords(stored, {
    judge: judgeFor("K"),
    policyOf: () => ({ signatures: "required", profile: "terraform" }),
    clock: { now: () => now, monotonic: () => 0 },
  });
  const untold: unknown[] = [];
  const onUnwritten = (record: string, error: unknown) =>
    void untold.push([record, (error as NodeJS.ErrnoException).code]);
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
    const first = await records.read(address);
    expect(first?.confirmedAt).toEqual(now);
    expect(first?.value.packages.get("linux_amd64")?.sha256).toBe(
      digestOf("a"),
    );
    expect(await claim("linux=b")).toEqual(first?.value);
  });

  it.each(["ENOSPC", "EROFS", "EACCES"])(
    "is good all the same where the disk takes no ledger (%s), and is not recorded without one",
    async (code) => {
      const { records, untold, claim } = await prepare(failing(code));
      expect(await claim("linux=a")).toBeUndefined();
      expect(untold).toEqual([[records.format(address), code]]);
      expect(await records.stamp(address)).toBeUndefined();
    },
  );

  it.each(["ENOSPC", "EIO"])(
    "is good all the same where the disk takes the ledger and not the release (%s)",
    async (code) => {
      const { records, untold, claim } = await prepare(
        () => Promise.resolve(),
        (layout) =>
          new (class extends DiskRecords {
            override create = failing(code);
          })(layout),
      );
      expect(await claim("linux=a")).toBeUndefined();
      expect(untold).toEqual([[records.format(address), code]]);
    },
  );

  it("is refused where its ledger was lost", async () => {
    const lost = new Error("the ledger was lost");
    const { records, claim } = await prepare(() => Promise.reject(lost));
    await expect(claim("linux=a")).rejects.toBe(lost);
    expect(await records.stamp(address)).toBeUndefined();
  });
});
