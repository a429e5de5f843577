import { expect, it } from "vitest";
import { requestsFor } from "../../scenes/provider-requests.ts";
import { signer, TrustScene, unsignedHost } from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();

const unsigned = { signingKeys: [], signature: "unlisted" } as const;

it("under minimumAge, an unsigned release of first contact is held unless a rule gives its provider none", async () => {
  await scene.publish("undated", "1.0.0", await signer("Known"), unsigned);
  const match = `${unsignedHost}/undated/*`;
  const free = [{ match, action: "allow", minimumAge: 0 }];
  for (const [rules, outcome, listed] of [
    [[], "451 too-young", "nothing-admitted"],
    [free, "200", ["1.0.0"]],
  ]) {
    const policy = { minimumAge: "3d", rules };
    const own = await scene.startMirror({ policy });
    const ask = requestsFor(own, "thing", "undated", unsignedHost);
    expect(await ask.outcome("1.0.0")).toBe(outcome);
    expect(await ask.listed()).toEqual(listed);
  }
});
