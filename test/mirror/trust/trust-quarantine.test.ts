import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Release } from "../../fakes/release.ts";
import {
  countAlarms,
  eventually,
  listedIn,
  outcomeOf,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import {
  signer,
  soon,
  TrustScene,
  unsignedHost,
} from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();

const digestOf = ({ checksums }: Release) =>
  createHash("sha256").update(checksums).digest("hex");

describe("a version that appears later under an unknown key", () => {
  it("is held back with one alarm while everything else keeps serving, until it is approved", async () => {
    const [known, stranger] = [await signer("Known"), await signer("Stranger")];
    await scene.contact("held", known);
    const before = await countAlarms(scene.mirror, "key-refused");
    const late = await scene.publish("held", "1.1.0", stranger);
    await scene.publish("held", "1.0.1", known);
    const both = ["1.0.0", "1.0.1"];
    const lists = await Promise.all(
      Array.from({ length: 20 }, () => scene.ask("held").index()),
    );
    expect(lists.map((answer) => listedIn(answer))).toEqual(
      Array(20).fill(both),
    );
    const asked = await Promise.all([
      scene.ask("held").version("1.1.0"),
      scene.ask("held").archive("1.1.0"),
      scene.ask("held").archive("1.1.0", { headers: { Range: "bytes=0-1" } }),
    ]);
    expect(asked.map(outcomeOf)).toEqual(Array(3).fill("451 key-refused"));
    const head = await scene.ask("held").archive("1.1.0", { method: "HEAD" });
    expect(head.status).toBe(451);
    const { candidates = [] } = (await scene.listedTrust("held")) ?? {};
    expect(candidates).toMatchObject([
      {
        version: "1.1.0",
        fingerprint: stranger.fingerprint,
        reason: "unknown",
        sha256sums: digestOf(late),
        command: `provender trust approve registry.terraform.io/held/thing@1.1.0 ${digestOf(late).slice(0, 16)}`,
      },
    ]);
    expect(asked[0].body.toString()).toContain(
      candidates[0]?.command ?? "a command",
    );
    for (const version of both)
      expect(await scene.ask("held").delivery(version)).toBe("200");
    expect(await countAlarms(scene.mirror, "key-refused")).toBe(before + 1);
    expect(scene.auditOf("held", "quarantined")).toMatchObject([
      {
        verdict: "refused",
        version: "1.1.0",
        fingerprint: stranger.fingerprint,
        rule: "trust: unknown",
      },
    ]);

    expect(await scene.trust("list")).toContain(
      `/held/thing 1.1.0: key ${stranger.fingerprint}, not known, SHA256SUMS ${digestOf(late)}, since `,
    );
    expect(await scene.trust("approve", "held/thing@1.1.0")).toContain(
      `is approved with SHA256SUMS ${digestOf(late)} under the key ${stranger.fingerprint}, which is not known here: clients get exactly this content, and no key becomes known`,
    );
    await eventually(
      async () => await scene.ask("held").listed(),
      (listed) => listed.includes("1.1.0"),
      soon,
    );
    expect(await scene.ask("held").delivery("1.1.0")).toBe("200");
    expect((await scene.listedTrust("held"))?.candidates).toEqual([]);
    await scene.publish("held", "1.2.0", stranger);
    expect(await scene.ask("held").listed()).not.toContain("1.2.0");
    expect(await scene.ask("held").outcome("1.2.0")).toBe("451 key-refused");
  });

  it("stays held back over a restart, and with the origin down", async () => {
    const [known, stranger] = [await signer("Known"), await signer("Stranger")];
    await scene.contact("restarted", known);
    await scene.publish("restarted", "1.1.0", stranger);
    await scene.ask("restarted").index();
    await scene.revive();
    expect(await scene.ask("restarted").listed()).toEqual(["1.0.0"]);
    await scene.registry.stop();
    expect(await scene.ask("restarted").outcome("1.1.0")).toBe(
      "451 key-refused",
    );
    expect(await scene.ask("restarted").listed()).toEqual(["1.0.0"]);
    await scene.registry.restart();
  });

  it("is held back when it is unsigned and earlier ones were signed", async () => {
    const known = await signer("Known");
    const requests = requestsFor(
      scene.mirror,
      "thing",
      "unsigned",
      unsignedHost,
    );
    await scene.publish("unsigned", "1.0.0", known);
    expect(await requests.outcome("1.0.0")).toBe("200");
    const unsignedRelease = { signingKeys: [], signature: "unlisted" } as const;
    await scene.publish("unsigned", "1.1.0", known, unsignedRelease);
    expect(await requests.outcome("1.1.0")).toBe("451 key-refused");
    expect(await requests.listed()).toEqual(["1.0.0"]);
    await scene.trust("approve", `${unsignedHost}/unsigned/thing@1.1.0`);
    await eventually(
      () => requests.listed(),
      (listed) => listed.includes("1.1.0"),
      soon,
    );
    const never = requestsFor(scene.mirror, "thing", "never", unsignedHost);
    for (const version of ["1.0.0", "1.1.0"]) {
      await scene.publish("never", version, known, unsignedRelease);
      expect(await never.outcome(version)).toBe("200");
    }
  });
});
