import { describe, expect, it } from "vitest";
import {
  countAlarms,
  eventually,
  listedIn,
  outcomeOf,
  readAudit,
} from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();

describe("trust.newKeys and trust.keys", () => {
  it("accept: takes a new key and raises one alarm for each release", async () => {
    const [known, next] = [await signer("Known"), await signer("Next")];
    await scene.publish("open", "1.0.0", known);
    const own = await scene.startMirror({ trust: { newKeys: "accept" } });
    expect(await scene.ask("open", own).outcome("1.0.0")).toBe("200");
    expect(await countAlarms(own, "key-new")).toBe(0);
    await scene.publish("open", "1.1.0", next);
    await scene.publish("open", "1.2.0", next);
    const index = await scene.ask("open", own).index();
    expect(listedIn(index)).toEqual(["1.0.0", "1.1.0", "1.2.0"]);
    expect(await scene.ask("open", own).outcome("1.1.0")).toBe("200");
    expect(await scene.ask("open", own).outcome("1.2.0")).toBe("200");
    expect(await countAlarms(own, "key-new")).toBe(2);
  });

  it("refuse: serves nothing but what pinned keys signed", async () => {
    const [pinned, other] = [await signer("Pinned"), await signer("Other")];
    await scene.publish("closed", "1.0.0", pinned);
    await scene.publish("closed", "1.1.0", other);
    await scene.publish("unpinned", "1.0.0", pinned);
    const keys = [
      {
        match: "registry.terraform.io/closed/*",
        fingerprints: [pinned.fingerprint],
      },
    ];
    const own = await scene.startMirror({ trust: { newKeys: "refuse", keys } });
    expect(await scene.ask("closed", own).listed()).toEqual(["1.0.0"]);
    expect(await scene.ask("closed", own).delivery("1.0.0")).toBe("200");
    expect(await scene.ask("closed", own).outcome("1.1.0")).toBe(
      "451 key-refused",
    );
    expect(outcomeOf(await scene.ask("unpinned", own).index())).toBe(
      "451 nothing-admitted",
    );
    expect(await scene.ask("unpinned", own).outcome("1.0.0")).toBe(
      "451 key-refused",
    );
  });

  it("learns from the newest version that the rules allow", async () => {
    const [known, stranger] = [await signer("Known"), await signer("Stranger")];
    await scene.publish("ruled", "1.0.0", known);
    await scene.publish("ruled", "2.0.0", stranger);
    const rule = { match: "*/ruled/*", action: "deny", versions: ">= 2.0" };
    const own = await scene.startMirror({ policy: { rules: [rule] } });
    await scene.ask("ruled", own).index();
    await eventually(
      () => own.get("/healthz"),
      () => readAudit(own).some(({ event }) => event === "new-key"),
    );
    await scene.publish("ruled", "1.1.0", stranger);
    expect(await scene.ask("ruled", own).listed()).toEqual(["1.0.0"]);
  });
});
