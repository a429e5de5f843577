import { expect, it } from "vitest";
import { takeBundled } from "../../../src/mirror/bundles/import-bundle.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import { freshness, MirrorScene } from "../../scenes/mirror-in-process.ts";
import { judge } from "./bundled-releases.ts";

it("a bundled signature is judged by the registry's keys, be they the same as before", async () => {
  const scene = await MirrorScene.prepare();
  const { registry, clock } = scene;
  const mirror = scene.start();
  const K = await createCertifiedSigner("K");
  const keys = [(await K.revoked()).armoredPublicKey];
  const offered = { content: "linux=a", by: K };
  registry.offer("1.0.0", offered);
  expect(await mirror.version("1.0.0")).toBe("linux=a");
  registry.offer("1.0.0", { ...offered, keys });
  clock.pass(freshness);
  expect(await mirror.version("1.0.0")).toBe("signature-refused: revoked");
  const more = `${"0".repeat(64)}  manifest.json\n`;
  const judged = await judge(mirror, { version: "1.0.0", by: K, more });
  const { address } = judged.request;
  await mirror.settlements.keep(address, (known) => takeBundled(known, judged));
  registry.offer("1.0.0", { ...offered, more, keys });
  clock.pass(freshness);
  expect(await mirror.version("1.0.0")).toBe("signature-refused: revoked");
});
