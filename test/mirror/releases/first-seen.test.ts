import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { alteredByte, onlyFor } from "../../fakes/faults.ts";
import type { Release } from "../../fakes/release.ts";
import {
  countAlarms,
  digestsIn,
  eventually,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { digestsOf, startSeenReleases } from "../../scenes/seen-releases.ts";

const decide = (decision: "approve" | "forget", type: string) =>
  runCommand(scene.mirror, "trust", decision, `acme/${type}@1.0.0`);

/** Types of the providers with a candidate that needs a decision. */
async function listCandidates(): Promise<readonly string[]> {
  const { stdout } = await runCommand(scene.mirror, "trust", "list", "--json");
  const { namespaces } = JSON.parse(stdout) as {
    readonly namespaces: readonly {
      readonly candidates: readonly { readonly type: string }[];
    }[];
  };
  return namespaces.flatMap(({ candidates }) =>
    candidates.map(({ type }) => type),
  );
}

const scene = await startSeenReleases();

const digestOf = ({ checksums }: Release) =>
  createHash("sha256").update(checksums).digest("hex");

describe("a release that is created again", () => {
  it("leaves clients with the pinned checksums and bytes, raises one alarm, and is served after it was approved", async () => {
    const first = await scene.seen("again");
    const before = await countAlarms(scene.mirror, "release-replaced");
    const second = await scene.registry.republish(first);
    await scene.expectServed("again", first);
    await scene.expectServed("again", first);
    expect(await countAlarms(scene.mirror, "release-replaced")).toBe(
      before + 1,
    );
    expect(scene.auditOf("again", "replaced")).toMatchObject([
      { verdict: "refused", rule: "pinned checksums", version: "1.0.0" },
    ]);

    const list = await runCommand(scene.mirror, "trust", "list");
    const sha256sums = digestOf(second);
    const approve = `trust approve registry.terraform.io/acme/again@1.0.0 ${sha256sums.slice(0, 16)}`;
    expect(list.stdout).toContain(
      `registry.terraform.io/acme/again 1.0.0: key ${second.signer.fingerprint}, other content than the pinned checksums, SHA256SUMS ${sha256sums}, since `,
    );
    expect(list.stdout).toContain(`\n  provender ${approve}\n`);
    const { stdout, status } = await runCommand(
      scene.mirror,
      ...approve.split(" "),
    );
    expect(status).toBe(0);
    expect(stdout).toContain(
      `registry.terraform.io/acme/again 1.0.0 is approved with SHA256SUMS ${sha256sums} `,
    );
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
    ).not.toContain("again 1.0.0:");
  });

  it("is refused when the first copy is gone, until it is approved", async () => {
    const first = await scene.seen("evicted");
    const second = await scene.registry.republish(first);
    rmSync(scene.pathOf(first));
    const ask = requestsFor(scene.mirror, "evicted");
    expect(await ask.delivery("1.0.0")).toBe("451 checksum-conflict");
    expect(digestsIn(await ask.version("1.0.0"))).toEqual(digestsOf(first));
    expect(await ask.delivery("1.0.0")).toBe("451 checksum-conflict");
    expect(scene.auditOf("evicted", "replaced")).toHaveLength(1);
    await runCommand(scene.mirror, "trust", "approve", "acme/evicted@1.0.0");
    await eventually(
      () => ask.archive("1.0.0"),
      ({ status }) => status === 200,
      1_500,
    );
    await scene.expectServed("evicted", second);
  });

  it("is served as it was first though the new one has a bad signature, which cannot be approved", async () => {
    const first = await scene.seen("forged");
    await scene.registry.republish(first);
    scene.registry.script("signature", onlyFor(/forged/, alteredByte(-1)));
    await scene.expectServed("forged", first);
    expect(scene.auditOf("forged", "replaced")).toMatchObject([
      { verdict: "refused", rule: "pinned checksums", version: "1.0.0" },
    ]);
    expect(await listCandidates()).not.toContain("forged");
    const { stderr, status } = await decide("approve", "forged");
    expect(status).toBe(1);
    expect(stderr).toContain("has no contents that need a decision");
    await scene.expectServed("forged", first);
    scene.registry.heal();
    await scene.expectServed("forged", first);
    // One that the daemon saw, one that the command saw, and one of the healed offer.
    expect(scene.auditOf("forged", "replaced")).toHaveLength(3);
  });
});
