import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { alteredByte, onlyFor } from "../../fakes/faults.ts";
import {
  countAlarms,
  digestsIn,
  eventually,
  outcomeOf,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { digestsOf, SeenReleases } from "../../scenes/seen-releases.ts";

let scene: SeenReleases;

beforeAll(async () => {
  scene = await SeenReleases.start();
});

afterAll(() => scene.stop());

describe("a release that is created again", () => {
  it("leaves clients with the first digests and bytes, is told once, and is served after it was approved", async () => {
    const first = await scene.seen("again");
    const before = await countAlarms(scene.mirror, "release-replaced");
    const second = await scene.registry.republish(first);
    await scene.expectServed("again", first);
    await scene.expectServed("again", first);
    expect(await countAlarms(scene.mirror, "release-replaced")).toBe(
      before + 1,
    );
    expect(scene.auditOf("again", "replaced")).toMatchObject([
      { verdict: "refused", rule: "first seen wins", version: "1.0.0" },
    ]);

    const list = await runCommand(scene.mirror, "trust", "list");
    expect(list.stdout).toMatch(/RE-CREATED .*\n {2}again 1\.0\.0 /);
    const { stdout, status } = await runCommand(
      scene.mirror,
      "trust",
      "approve",
      "acme/again@1.0.0",
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/is approved with SHA256SUMS [0-9a-f]{64}/);
    await eventually(
      async () =>
        digestsIn(await requestsFor(scene.mirror, "again").version("1.0.0")),
      (digests) =>
        JSON.stringify(digests) === JSON.stringify(digestsOf(second)),
      1_500,
    );
    await scene.expectServed("again", second);
    expect(scene.auditOf("again", "replaced")).toMatchObject([
      { verdict: "refused" },
      { verdict: "accepted" },
    ]);
    expect(
      (await runCommand(scene.mirror, "trust", "list")).stdout,
    ).not.toContain("again 1.0.0 ");
  });

  it("is refused when the first copy is gone, until it is approved", async () => {
    const first = await scene.seen("evicted");
    const second = await scene.registry.republish(first);
    rmSync(scene.pathOf(first));
    const ask = requestsFor(scene.mirror, "evicted");
    expect(outcomeOf(await ask.archive("1.0.0"))).toBe("451 checksum-conflict");
    expect(digestsIn(await ask.version("1.0.0"))).toEqual(digestsOf(first));
    expect(outcomeOf(await ask.archive("1.0.0"))).toBe("451 checksum-conflict");
    expect(scene.auditOf("evicted", "replaced")).toHaveLength(1);
    await runCommand(scene.mirror, "trust", "approve", "acme/evicted@1.0.0");
    await eventually(
      () => ask.archive("1.0.0"),
      ({ status }) => status === 200,
      1_500,
    );
    await scene.expectServed("evicted", second);
  });

  it("needs a word of its own for each content, and a kill does not forget the first", async () => {
    const first = await scene.seen("thrice");
    const second = await scene.registry.republish(first);
    await scene.expectServed("thrice", first);
    await runCommand(scene.mirror, "trust", "approve", "acme/thrice@1.0.0");
    await eventually(
      () => requestsFor(scene.mirror, "thrice").version("1.0.0"),
      (answer) =>
        JSON.stringify(digestsIn(answer)) === JSON.stringify(digestsOf(second)),
    );
    await scene.expectServed("thrice", second);
    await scene.registry.republish(second);
    await scene.expectServed("thrice", second);
    scene.registry.offer(first);
    await scene.expectServed("thrice", second);
    await scene.restart();
    await scene.expectServed("thrice", second);
  });

  it("is not asked for again and again when an approval came too late", async () => {
    const first = await scene.seen("back");
    await scene.registry.republish(first);
    await scene.expectServed("back", first);
    scene.registry.offer(first);
    await runCommand(scene.mirror, "trust", "approve", "acme/back@1.0.0");
    await scene.expectServed("back", first);
    const { stdout } = await runCommand(
      scene.mirror,
      "trust",
      "list",
      "--json",
    );
    const { namespaces } = JSON.parse(stdout) as {
      readonly namespaces: [{ seen: { replaced: { type: string }[] } }];
    };
    expect(namespaces[0].seen.replaced.map(({ type }) => type)).not.toContain(
      "back",
    );
  });

  it("is served as it was first though the new one has a bad signature, which nobody can approve", async () => {
    const first = await scene.seen("forged");
    await scene.registry.republish(first);
    scene.registry.script("signature", onlyFor(/forged/, alteredByte(-1)));
    await scene.expectServed("forged", first);
    const { stderr, status } = await runCommand(
      scene.mirror,
      "trust",
      "approve",
      "acme/forged@1.0.0",
    );
    expect(status).toBe(1);
    expect(stderr).toContain("is refused by itself (signature-refused)");
    await scene.expectServed("forged", first);
    scene.registry.heal();
    await scene.expectServed("forged", first);
    expect(scene.auditOf("forged", "replaced")).toHaveLength(2);
  });

  it("keeps the first digests while the origin is down and while nobody is asked", async () => {
    const first = await scene.seen("away");
    await scene.registry.republish(first);
    await scene.expectServed("away", first);
    await scene.registry.stop();
    await scene.expectServed("away", first);
    await scene.registry.restart();
  });
});
