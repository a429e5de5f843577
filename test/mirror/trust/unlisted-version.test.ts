import { describe, expect, it } from "vitest";
import { status } from "../../fakes/faults.ts";
import { outcomeOf, runCommand } from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const longAgo = new Date("2020-01-01T00:00:00Z");
const policy = { minimumAge: "7d" };

const scene = await TrustScene.start();

describe("while the list cannot be had, a version that no list ever showed", () => {
  it("is held back under minimumAge on every path, with any date of its signature", async () => {
    const known = await signer("Known");
    const old = { signedAt: longAgo };
    await scene.publish("unlisted", "1.0.0", known, old);
    const own = await scene.startMirror({ policy });
    const ask = scene.ask("unlisted", own);
    expect(await ask.outcome("1.0.0")).toBe("200");
    await scene.publish("unlisted", "1.1.0", known, old);
    scene.registry.script("versions", status(500));
    const facade = "/v1/providers/registry.terraform.io/unlisted/thing/1.1.0";
    const answers = await Promise.all([
      ask.version("1.1.0"),
      ask.archive("1.1.0"),
      ask.archive("1.1.0", {
        method: "GET",
        headers: { Range: "bytes=0-1" },
      }),
      own.get(`${facade}/download/linux/amd64`),
    ]);
    expect(answers.map(outcomeOf)).toEqual(
      Array(answers.length).fill("451 too-young"),
    );
    const prefetch = await runCommand(
      own,
      "prefetch",
      "--platform",
      "linux_amd64",
      "unlisted/thing@1.1.0",
    );
    expect(prefetch.status).toBe(1);
    expect(await ask.delivery("1.0.0")).toBe("200");
    scene.registry.heal();
    expect(await ask.listed()).toEqual(["1.0.0"]);
    expect(await ask.outcome("1.1.0")).toBe("451 too-young");
  });

  it("is served without minimumAge, when its key is known", async () => {
    const [known, stranger] = [await signer("Known"), await signer("Stranger")];
    await scene.contact("ageless", known);
    await scene.publish("ageless", "1.1.0", known);
    await scene.publish("ageless", "1.2.0", stranger);
    scene.registry.script("versions", status(500));
    const ask = scene.ask("ageless");
    expect(await ask.delivery("1.1.0")).toBe("200");
    expect(await ask.delivery("1.2.0")).toBe("451 key-refused");
    scene.registry.heal();
  });
});
