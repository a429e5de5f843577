import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  contactKey,
  namespaceKey,
  writeContact,
} from "../../../src/mirror/trust/trust-records.ts";
import { alteredByte, onlyFor } from "../../fakes/faults.ts";
import { plantRecords } from "../../scenes/planted-records.ts";
import {
  awaitAudit,
  eventually,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";
const key = "A".repeat(40);

/** 2,000 providers that were met, in 100 namespaces. */
const met = Array.from({ length: 100 }, (_, n) => {
  const where = { hostname: host, namespace: `team${n}` } as never;
  const types = Array.from({ length: 20 }, (_, at) => `tool${at}`);
  const contact = writeContact({
    ...{ id: `c${n}`, at: new Date(), by: "list", key, newest: "1.0.0" },
    ...{ versions: new Set(["1.0.0"]), published: new Set([key]) },
  });
  const decisions = { keys: [], contents: [] };
  const firstKey = { fingerprint: key, type: "tool0" };
  const namespace = { firstKey, providerKeys: [], decisions };
  return [
    [namespaceKey(where), namespace] as const,
    ...types.map((type) => {
      const provider = { ...(where as object), type } as never;
      return [contactKey(provider), contact] as const;
    }),
  ];
}).flat();

it("status and trust list name three needs at once in 25 lines, with 2,000 providers", async () => {
  const scene = await TrustScene.start();
  const down = { "down.example.com": { url: "https://127.0.0.1:1/" } };
  const origins = { ...(scene.config.origins as object), ...down };
  const settings = { origins, freshness: { versions: "5m" } };
  await scene.revive(settings, () => plantRecords(scene.mirror.directory, met));
  // A stranger's key, content that was made again, an archive that came wrong, an origin that is down.
  const [known, stranger] = [await signer("Known"), await signer("Stranger")];
  const first = await scene.contact("again", known);
  await scene.contact("rotated", known);
  await scene.publish("rotated", "1.1.0", stranger);
  await scene.registry.republish(first);
  await scene.publish("tampered", "1.0.0", known);
  scene.registry.script("archive", onlyFor(/tampered/, alteredByte()));
  await scene.ask("tampered").archive("1.0.0");
  await scene.revive({ origins }, () => undefined);
  for (const namespace of ["again", "rotated"])
    await scene.ask(namespace).index();
  await scene.ask("again").version("1.0.0");
  await scene.ask("tampered").archive("1.0.0");
  for (let n = 0; n < 6; n++)
    await requestsFor(scene.mirror, `p${n}`, "x", "down.example.com").index();
  appendFileSync(scene.mirror.configFile, "policy: { minimumAge: banana }\n");
  scene.mirror.process.kill("SIGHUP");
  const { mirror } = scene;
  expect(
    await awaitAudit(mirror, ({ event }) => event === "refused"),
  ).not.toEqual([]);
  console.log(
    (
      await eventually(
        () => runCommand(mirror, "status"),
        ({ stdout }) => stdout.includes("wait for a decision"),
        15_000,
      )
    ).stdout,
    (await runCommand(mirror, "trust", "list")).stdout,
  );
});
