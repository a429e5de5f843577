import { afterEach, expect, it } from "vitest";
import { onlyFor, status } from "../../fakes/faults.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import {
  countAlarms,
  eventually,
  listedIn,
  outcomeOf,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { signer, startTrustScene } from "../../scenes/trust-scene.ts";

const scene = await startTrustScene();
const { registry } = scene;
const [K, E] = [await signer("Known"), await signer("Stranger")];
afterEach(() => registry.heal());

/**
 * What happens, and what clients get then. `+1.0.0` is published, `E1.0.0` under a stranger's key, `-1.0.0` published and withdrawn;
 * `lose` has the registry answer 404 for documents. Of what clients get, `!` is 404, `?` is 451 because of its key, and neither is
 * listed; `1.0.0!` is listed and 404.
 */
const cases: Readonly<Record<string, readonly string[]>> = {
  "all that the origin lists at first contact": [
    "+1.0.0 +1.1.0 +2.0.0 => 1.0.0 1.1.0 2.0.0",
  ],
  "what was there at first contact, until it is found to have no documents": [
    "lose:1.0.0 +1.0.0 +2.0.0 lists:1.0.0,2.0.0 asked:1.0.0 => 2.0.0 !1.0.0",
  ],
  "a new version once it was verified": [
    "+1.0.0 => 1.0.0",
    "+1.1.0 +2.0.0 => 1.0.0 1.1.0 2.0.0",
  ],
  "no new version that does not verify, until it does": [
    "+1.0.0 => 1.0.0",
    "lose:1.1.0 +1.1.0 => 1.0.0 !1.1.0",
    "heal => 1.0.0 1.1.0",
  ],
  "no new version under a stranger's key, until it comes under a known one": [
    "+1.0.0 => 1.0.0",
    "E1.1.0 => 1.0.0 ?1.1.0",
    "+1.1.0 => 1.0.0 1.1.0",
  ],
  "what the origin withdraws, as far as it is stored": [
    "+1.0.0 +2.0.0 => 1.0.0 2.0.0",
    "-1.1.0 -2.0.0 => 1.0.0 2.0.0 !1.1.0",
  ],
  "all of a first contact while its newest three are gone together": [
    "lose:1.1.0,1.2.0,1.3.0 +1.0.0 +1.1.0 +1.2.0 +1.3.0 => 1.0.0 1.1.0! 1.2.0! 1.3.0!",
    "alarm heal => 1.0.0 1.1.0 1.2.0 1.3.0",
  ],
  "not what is gone at first contact where it is not the newest three": [
    "lose:1.2.0,1.3.0 +1.0.0 +1.1.0 +1.2.0 +1.3.0 => 1.0.0 1.1.0 !1.2.0 !1.3.0",
  ],
};

/** Carries out one word of what happens. */
async function carryOut(namespace: string, word: string): Promise<void> {
  const ask = scene.ask(namespace);
  const [, verb = "", about = ""] = /^([+E-]|[a-z]+:?)(.*)$/.exec(word) ?? [];
  const publish = (by = K) => scene.publish(namespace, about, by);
  if (verb === "+") await publish();
  else if (verb === "E") await publish(E);
  else if (verb === "-") registry.withdraw(await publish());
  else if (verb === "lose:") {
    const names = about.replaceAll(",", "|").replaceAll(".", "\\.");
    const lost = onlyFor(new RegExp(`_(${names})_`), status(404));
    registry.script("checksums", lost);
  } else if (verb === "lists:") expect(String(await ask.listed())).toBe(about);
  else if (verb === "asked:") await ask.version(about);
  else if (verb === "heal") registry.heal();
  else {
    expect(word).toBe("alarm");
    const alarms = await countAlarms(scene.mirror, "versions-vanished");
    expect(alarms).toBeGreaterThan(0);
  }
}

const outcomes = { "!": "404 not-found", "?": "451 key-refused" } as const;

/** What every face says of each version: listed is served, and what is not listed is refused. */
async function expectFaces(
  mirror: RunningMirror,
  namespace: string,
  told: string,
  refusal: string = outcomes["!"],
) {
  const ask = scene.ask(namespace, mirror);
  const words = told.split(" ");
  const listed = words
    .filter((word) => /^\d/.test(word))
    .map((word) => word.replace("!", ""));
  const base = `/v1/providers/registry.terraform.io/${namespace}/thing/`;
  const isListed = (answer: string | readonly string[]) =>
    String(answer) === String(listed);
  await eventually(() => ask.listed(), isListed, 20_000);
  for (const word of words) {
    const version = word.replace(/[!?]/, "");
    const refused = word.includes("!") ? refusal : "200";
    const outcome = word.startsWith("?") ? outcomes["?"] : refused;
    expect([version, await ask.outcome(version)]).toEqual([version, outcome]);
    expect(await ask.delivery(version)).toBe(outcome);
    const download = await mirror.get(`${base}${version}/download/linux/amd64`);
    expect(outcomeOf(download)).toBe(outcome);
  }
  expect(await ask.listed()).toEqual(listed);
  expect(listedIn(await mirror.get(`${base}versions`))).toEqual(listed);
}

it.each(Object.entries(cases))("lists %s", async (name, steps) => {
  const namespace = `listing-${Object.keys(cases).indexOf(name)}`;
  for (const step of steps) {
    const [happens = "", told = ""] = step.split(" => ");
    for (const word of happens.split(" ")) await carryOut(namespace, word);
    await expectFaces(scene.mirror, namespace, told);
  }
});

it("lists offline what is stored and may be served, and nothing else", async () => {
  const versions = ["1.0.0", "1.1.0", "1.2.0"];
  for (const version of versions) await scene.publish("offline", version, K);
  const online = await startMirror({ config: scene.config });
  const before = scene.ask("offline", online);
  expect(await before.listed()).toEqual(versions);
  for (const version of versions.slice(0, 2))
    expect(await before.delivery(version)).toBe("200");
  await online.stop();
  const config = { ...scene.config, offline: true };
  const { directory } = online;
  const mirror = await startMirror({ config, directory });
  const told = "1.0.0 1.1.0 !1.2.0";
  await expectFaces(mirror, "offline", told, "404 not-stored");
  const of = ["--key", K.fingerprint, "--for", "registry.terraform.io/offline"];
  await runCommand(mirror, "trust", "revoke", ...of);
  const ask = scene.ask("offline", mirror);
  await expect.poll(() => ask.listed()).toBe("nothing-admitted");
  expect(await ask.outcome("1.1.0")).toBe("451 key-refused");
});
