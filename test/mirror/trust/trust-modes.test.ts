import { expect, it } from "vitest";
import {
  countAlarms,
  eventually,
  listedIn,
  outcomeOf,
  readAudit,
} from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();
const [known, next] = [await signer("Known"), await signer("Next")];

it("newKeys: accept takes a new key and raises one alarm for each release", async () => {
  await scene.publish("open", "1.0.0", known);
  const own = await scene.startMirror({ trust: { newKeys: "accept" } });
  const ask = scene.ask("open", own);
  expect(await ask.outcome("1.0.0")).toBe("200");
  expect(await countAlarms(own, "key-new")).toBe(0);
  for (const version of ["1.1.0", "1.2.0"])
    await scene.publish("open", version, next);
  expect(await ask.listed()).toEqual(["1.0.0", "1.1.0", "1.2.0"]);
  for (const version of ["1.1.0", "1.2.0"])
    expect(await ask.outcome(version)).toBe("200");
  expect(await countAlarms(own, "key-new")).toBe(2);
});

it("newKeys: refuse serves nothing but what pinned keys signed", async () => {
  await scene.publish("closed", "1.0.0", known);
  await scene.publish("closed", "1.1.0", next);
  await scene.publish("unpinned", "1.0.0", known);
  const match = "registry.terraform.io/closed/*";
  const keys = [{ match, fingerprints: [known.fingerprint] }];
  const own = await scene.startMirror({ trust: { newKeys: "refuse", keys } });
  const [closed, unpinned] = [
    scene.ask("closed", own),
    scene.ask("unpinned", own),
  ];
  expect(await closed.listed()).toEqual(["1.0.0"]);
  expect(await closed.delivery("1.0.0")).toBe("200");
  expect(await closed.outcome("1.1.0")).toBe("451 key-refused");
  expect(outcomeOf(await unpinned.index())).toBe("451 nothing-admitted");
  expect(await unpinned.outcome("1.0.0")).toBe("451 key-refused");
});

it("a first contact learns from the newest version that the rules allow", async () => {
  await scene.publish("ruled", "1.0.0", known);
  await scene.publish("ruled", "2.0.0", next);
  const rule = { match: "*/ruled/*", action: "deny", versions: ">= 2.0" };
  const own = await scene.startMirror({ policy: { rules: [rule] } });
  await scene.ask("ruled", own).index();
  await eventually(
    () => own.get("/healthz"),
    () => readAudit(own).some(({ event }) => event === "new-key"),
  );
  await scene.publish("ruled", "1.1.0", next);
  expect(listedIn(await scene.ask("ruled", own).index())).toEqual(["1.0.0"]);
});
