import { globSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { barrier } from "../../fakes/barrier.ts";
import { collect, openOnce } from "../../fakes/fetching.ts";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import type { Release } from "../../fakes/release.ts";
import { heldWhole } from "../../../src/mirror/archives/download.ts";
import {
  digest,
  expectCut,
  expectRefusal,
  startFailingOrigin,
} from "../../scenes/failing-origin.ts";

const origin = await startFailingOrigin();

afterEach(() => origin.registry.heal());

/** Nothing says what the rest would be the rest of. */
const untagged: Fault = (reply) => {
  const named = Object.entries(reply.headers);
  const headers = Object.fromEntries(named.filter(([name]) => name !== "ETag"));
  return { ...reply, headers };
};

/** The head of the answer, with the body still to be read. */
function openArchive(release: Release) {
  const { filename } = release.archive("linux_amd64");
  const path = `/providers/registry.terraform.io/acme/${release.type}/${filename}`;
  const { url, caFile } = origin.mirror;
  return openOnce(new URL(path, url).href, {
    ca: readFileSync(caFile, "utf8"),
  });
}

describe("an archive that is cut on its way", () => {
  it.each<[string, Fault]>([
    ["with a length", faults.cut(200_000)],
    ["in chunks", faults.cutChunked(200_000)],
  ])("%s is whole for all clients, with one more request", async (_, fault) => {
    const { registry } = origin;
    const release = await origin.publish();
    const held = barrier();
    const late = faults.all(fault, held.beforeHeaders);
    registry.script("archive", [late]);
    registry.requests.clear();
    const asked = Array.from({ length: 5 }, () =>
      origin.ask(release, "archive"),
    );
    await held.reached;
    held.release();
    for (const { status, complete, body } of await Promise.all(asked)) {
      expect([status, complete]).toEqual([200, true]);
      expect(digest(body)).toBe(release.archive("linux_amd64").sha256);
    }
    expect(registry.requests.count("archive")).toBe(2);
    // Clients need not wait for the disk.
    await expect.poll(() => origin.isStored(release)).toBe(true);
  });

  it("and goes on with other bytes is never whole", async () => {
    const release = await origin.publish();
    origin.registry.script("archive", [
      faults.cut(200_000),
      faults.alteredByte(-1),
    ]);
    expectRefusal(await origin.ask(release, "archive"), 451, "archive-digest");
    expect(origin.isStored(release)).toBe(false);
    await expectRemembered(release);
  });
});

/** What came wrong is refused at once for minutes. */
async function expectRemembered(release: Release): Promise<void> {
  origin.registry.heal();
  origin.registry.requests.clear();
  expectRefusal(await origin.ask(release, "archive"), 451, "archive-digest");
  expect(origin.registry.requests.count("archive")).toBe(0);
}

describe("an archive that goes wrong after its first bytes", () => {
  const wrongs: readonly (readonly [string, Fault])[] = [
    ["with another first byte", faults.alteredByte(0)],
    ["with another last byte", faults.alteredByte(-1)],
    ["cut without a length", faults.cutUnannounced(200_000)],
    ["with a byte too many", faults.grown(1)],
    [
      "with a byte too many and no length",
      faults.all(faults.grown(1), faults.chunked),
    ],
  ];
  const cuts: readonly (readonly [string, Fault])[] = [
    ["cut with a length", faults.all(untagged, faults.cut(200_000))],
    ["cut in chunks", faults.all(untagged, faults.cutChunked(200_000))],
    ["cut again and again", faults.cut(70_000)],
  ];
  const endless = faults.all(faults.grown(10 * 1024 * 1024), faults.chunked);

  it.each([
    ...wrongs.map(([name, fault]) => [name, fault, "refused"] as const),
    ...cuts.map(([name, fault]) => [name, fault, "healed"] as const),
    ["larger than the limit without a length", endless, "healed"] as const,
  ])(
    "is a cut transfer %s where it is larger than 8 MiB",
    async (_, fault, then) => {
      const release = await origin.publish(heldWhole + 300_000);
      const held = barrier();
      // The answer has begun before the transfer goes wrong.
      origin.registry.script(
        "archive",
        faults.all(fault, held.afterBytes(69_000)),
      );
      const answer = await openArchive(release);
      held.release();
      const { body, whole: complete } = await collect(answer);
      expectCut({ status: answer.statusCode, complete, body }, release);
      expect(origin.isStored(release)).toBe(false);
      if (then === "refused") await expectRemembered(release);
      else await origin.expectHealed(release, "archive");
    },
  );

  it("is whole when only bytes beyond the announced length follow", async () => {
    const release = await origin.publish();
    origin.registry.script("archive", faults.excess(1000));
    const answer = await origin.ask(release, "archive");
    expect(answer.complete).toBe(true);
    expect(digest(answer.body)).toBe(release.archive("linux_amd64").sha256);
  });
});

describe("after all of this", () => {
  it("every file in the blob store is what its name says", () => {
    const { directory } = origin.mirror;
    const files = globSync("blobs/v1/sha256/*/*", { cwd: directory });
    expect(files.length).toBeGreaterThan(5);
    for (const file of files)
      expect(digest(readFileSync(join(directory, file)))).toBe(basename(file));
  });

  it("nothing is left in staging", async () => {
    await origin.mirror.stop();
    expect(readdirSync(join(origin.mirror.directory, "staging"))).toEqual([]);
  });
});
