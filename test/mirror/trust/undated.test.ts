import { afterAll, beforeAll, expect, it } from "vitest";
import {
  listedIn,
  outcomeOf,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import { signer, TrustScene, unsignedHost } from "../../scenes/trust-scene.ts";

let scene: TrustScene;

beforeAll(async () => {
  scene = await TrustScene.start();
});

afterAll(() => scene.stop());

const unsigned = { signingKeys: [], signature: "unlisted" } as const;

it.each([
  ["hold", "451 too-young", "nothing-admitted"],
  ["allow", "200", ["1.0.0"]],
])(
  "under minimumAge, an unsigned release of first contact is as policy.undated says: %s",
  async (undated, outcome, listed) => {
    const namespace = `undated-${undated}`;
    await scene.publish(namespace, "1.0.0", await signer("Known"), unsigned);
    const policy = { minimumAge: "3d", undated };
    await scene.withMirror({ policy }, async (own) => {
      const ask = requestsFor(own, "thing", namespace, unsignedHost);
      const answer = await ask.version("1.0.0");
      expect(outcomeOf(answer)).toBe(outcome);
      if (undated === "hold")
        expect(answer.body.toString()).toContain("policy.undated");
      expect(listedIn(await ask.index())).toEqual(listed);
    });
  },
);

it("under minimumAge, an unsigned release that appears later is held under any policy.undated", async () => {
  const by = await signer("Known");
  await scene.publish("undated-later", "1.0.0", by, unsigned);
  const policy = { minimumAge: "3d", undated: "allow" };
  await scene.withMirror({ policy }, async (own) => {
    const ask = requestsFor(own, "thing", "undated-later", unsignedHost);
    expect(listedIn(await ask.index())).toEqual(["1.0.0"]);
    await scene.publish("undated-later", "1.1.0", by, unsigned);
    expect(listedIn(await ask.index())).toEqual(["1.0.0"]);
    expect(outcomeOf(await ask.version("1.1.0"))).toBe("451 too-young");
  });
});
