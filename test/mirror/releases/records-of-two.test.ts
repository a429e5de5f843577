import { describe, expect, it } from "vitest";
import type { KnownRelease } from "../../../src/mirror/releases/known-release.ts";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { address } from "../../scenes/believed-releases.ts";
import { digestOf, judgeFor, knownOf } from "../../scenes/release-sketches.ts";
import { makeLayout } from "../../store/stores.ts";

const confirmedAt = new Date("2026-04-01T00:00:00Z");

async function prepare() {
  const releases = new ReleaseRecords(new DiskRecords(await makeLayout()), {
    judge: judgeFor("K"),
    policyOf: () => ({ signatures: "required", profile: "terraform" }),
    clock: { now: () => confirmedAt, monotonic: () => 0 },
  });
  return { releases };
}

const kept = (value: KnownRelease) => ({ value, confirmedAt });
const contentsOf = (value: KnownRelease | undefined) =>
  value?.trust.evidence.map(({ content }) => [...content.values()].join());

describe("two processes that write", () => {
  it("keep the checksums that were pinned first, and the evidence of both", async () => {
    const { releases } = await prepare();
    const [a, b] = [
      await knownOf({ by: "K", content: "linux=a" }),
      await knownOf({ by: "K", content: "linux=b" }),
    ];
    await releases.write(address, kept(a), undefined);
    const { value } = await releases.write(address, kept(b), undefined);
    for (const one of [value, (await releases.read(address))?.value]) {
      expect(one?.trust.pinned).toEqual(a.trust.pinned);
      expect(contentsOf(one)).toEqual([digestOf("a"), digestOf("b")]);
    }
  });

  it("at once keep one of them for both", async () => {
    const { releases } = await prepare();
    const sketches = Array.from("abcdef", (letter) =>
      knownOf({ by: "K", content: `linux=${letter}` }),
    );
    const written = await Promise.all(
      (await Promise.all(sketches)).map((value) =>
        releases.write(address, kept(value), undefined),
      ),
    );
    const pins = written.map(({ value }) => value.trust.pinned?.sha256sums);
    expect(new Set(pins).size).toBe(1);
    const read = await releases.read(address);
    expect(contentsOf(read?.value)).toHaveLength(6);
  });

  it("keep the platforms that either of them was offered", async () => {
    const { releases } = await prepare();
    const known = await knownOf({ by: "K", content: "linux=a darwin=b" });
    for (const name of ["linux_amd64", "darwin_amd64"])
      await releases.write(
        address,
        kept({ ...known, offered: new Set([name]) }),
        undefined,
      );
    const { offered } = (await releases.read(address))?.value ?? {};
    expect([...(offered ?? [])].toSorted()).toEqual([
      "darwin_amd64",
      "linux_amd64",
    ]);
  });
});
