import { describe, expect, it } from "vitest";
import { parseTrustScope } from "../../../src/address/spec.ts";
import { parseVersion } from "../../../src/address/version.ts";
import {
  decideContent,
  decideKey,
  type Deed,
} from "../../../src/commands/trust/decide.ts";
import { digestOf } from "../../../src/mirror/releases/evidence.ts";
import type { Signer } from "../../fakes/signing.ts";
import {
  acme,
  makeSigners,
  MirrorScene,
  prepareMet,
} from "../../scenes/mirror-in-process.ts";
import { writeChecksums } from "../../scenes/test-registry.ts";

const { K, L, E } = await makeSigners();
const day = 86_400_000;
const version = parseVersion("1.1.0");

/** Every order of three, and so of two, is somewhere in it: a sequence of de Bruijn, closed. */
const orders = "aaafaaraffafrarfarrfffrfrrraa";
const deeds = { a: "approve", r: "revoke", f: "forget" } as const;

const [revoked, unknown] = ["key-refused: revoked", "key-refused: unknown"];
const [undecided, met] = ["not decided on", "known by first contact"];
const known = ["linux=b", revoked, "linux=b"] as const;
const bad = "content-revoked";

/** Whose 1.1.0 it is, and what is printed where nothing is decided. */
type Case = [of: string, type: string, by: Signer, unsaid: string, Answers];
/** Where it is approved, revoked, undecided. Under a minimum age it is too young, unless its content is approved. */
type Answers = readonly [string, string, string];
type Row = [scope: "namespace" | "provider" | "release" | "content", ...Case];
const ofKeys: readonly Case[] = [
  ["a stranger's key", "thing", E, undecided, ["linux=b", revoked, unknown]],
  ["the key of first contact", "thing", K, met, known],
  ["the key of one provider", "second", L, met, known],
];
const ofContents: readonly Case[] = [
  ["a stranger's content", "thing", E, undecided, ["linux=b", bad, unknown]],
  ["the publisher's", "thing", K, undecided, ["linux=b", bad, "linux=b"]],
];
const rows = [
  ...(["namespace", "provider", "release"] as const).flatMap((scope) =>
    ofKeys.map((one): Row => [scope, ...one]),
  ),
  ...ofContents.map((one): Row => ["content", ...one]),
];

/** A provider whose 1.1.0 came after first contact, and the commands on it. */
async function prepare([scope, , type, by]: Row, minimumAge: number) {
  const scene = await MirrorScene.prepare({ minimumAge });
  const { registry, clock } = scene;
  const signedAt = new Date(clock.now().getTime() - 30 * day);
  registry.offer("1.0.0", { content: "linux=a", by: K, signedAt });
  registry.offer("1.0.0", { content: "linux=c", by: L, signedAt }, "second");
  const mirror = scene.start();
  for (const name of ["thing", "second"]) {
    expect(await mirror.index(name)).toBe("1.0.0");
    expect(await mirror.version("1.0.0", name)).toMatch(/^linux=/);
  }
  const offered = { content: "linux=b", by, signedAt: clock.now() };
  registry.offer(version, offered, type);
  clock.pass(day);
  await mirror.index(type);
  const { address } = await mirror.request(version, type);
  const sha256sums = digestOf(
    writeChecksums(address.provider, version, offered),
  );
  const ofKey = {
    ...acme,
    type: scope === "namespace" ? null : type,
    version: scope === "release" ? version : null,
  };
  return {
    mirror,
    /** What is printed: `STATE → STATE`. */
    decide: async (deed: Deed) => {
      const { text } = await (scope === "content"
        ? decideContent(mirror, address, sha256sums, deed)
        : decideKey(mirror, ofKey, by.fingerprint, deed));
      const state = "(approved|revoked|not decided on|known by first contact)";
      const [, is] = new RegExp(` is ${state}`).exec(text) ?? [];
      const [, was = is] =
        new RegExp(`\nBefore, it was ${state}`).exec(text) ?? [];
      return `${was} → ${is}`;
    },
    /** What the core decides by. */
    decided: async () => {
      const { keys, contents } = (await mirror.trust.read(acme)).decisions;
      expect(keys.length + contents.length).toBeLessThan(2);
      return [...keys, ...contents][0]?.decision;
    },
  };
}

describe.each([
  ["without a minimum age", 0],
  ["under a minimum age", 9 * day],
] as const)("approve, revoke and forget %s", (_, minimumAge) => {
  it.each(rows)(
    "in every order of two and three for the %s: %s",
    async (...row) => {
      const { mirror, decide, decided } = await prepare(row, minimumAge);
      const [scope, , type, , said, served] = row;
      const unsaid =
        scope === "namespace" && type === "second" ? undecided : said;
      const answers = served.map((answer, at) => {
        const isUrgent = scope === "content" && at === 0;
        const isYoung = minimumAge > 0 && answer === "linux=b" && !isUrgent;
        return isYoung ? "too-young" : answer;
      });
      const [approved = "", refused = "", undone = ""] = answers;
      const states = {
        a: ["approved", approved],
        r: ["revoked", refused],
        f: [unsaid, undone],
      } as const;
      let before = unsaid;
      expect(await mirror.version(version, type)).toBe(undone);
      for (const letter of orders) {
        const deed = letter as keyof typeof deeds;
        const [after, served] = states[deed];
        expect({
          printed: await decide(deeds[deed]),
          decided: (await decided()) ?? unsaid,
          served: await mirror.version(version, type),
          listed: (await mirror.index(type)).split(" ").includes(version),
        }).toEqual({
          ...{ printed: `${before} → ${after}`, decided: after, served },
          listed: served.startsWith("linux="),
        });
        before = after;
      }
    },
  );
});

it("an approved content is urgent for itself alone: what first contact listed below it waits for its age", async () => {
  const scene = await MirrorScene.prepare({ minimumAge: 9 * day });
  const now = scene.clock.now();
  const before = new Date(now.getTime() - 30 * day);
  for (const [name, signedAt] of [
    ["1.0.0", before],
    ["1.0.1", now],
    ["1.0.2", now],
  ] as const)
    scene.registry.offer(name, { content: "linux=a", by: K, signedAt });
  const mirror = scene.start();
  expect(await mirror.index()).toBe("1.0.0");
  const urgent = (await mirror.request("1.0.2")).address;
  await decideContent(mirror, urgent, undefined, "approve");
  expect(await mirror.index()).toBe("1.0.2 1.0.0");
  expect(await mirror.version("1.0.1")).toBe("too-young");
});

it("an approval that would serve nothing is not made: a revocation of its key is quoted, or the setting that excludes it named", async () => {
  const { mirror } = await prepareMet(K);
  const { address } = await mirror.request("2.0.0");
  const { fingerprint } = K;
  const approve = () => decideContent(mirror, address, undefined, "approve");
  const ofKey = { ...acme, version: null };
  await decideKey(mirror, ofKey, fingerprint, "revoke", "not theirs");
  await expect(approve()).rejects.toThrow(
    new RegExp(
      `its key ${fingerprint} was revoked by \\S+ on \\S+ for \\S+/acme/thing: not theirs`,
    ),
  );
  await decideKey(mirror, ofKey, fingerprint, "forget");
  const { rules } = mirror.admission;
  mirror.admission.replaceRules({ ...rules, newKeys: "refuse" });
  await expect(approve()).rejects.toThrow('"trust.newKeys" excludes its key');
});

it("a decision on a key says what else is decided on it and what it touches; one that touches nothing is made in advance alone, and leaves nothing once it is taken back", async () => {
  const scene = await MirrorScene.prepare();
  scene.registry.offer("1.0.0", { content: "linux=a", by: K });
  const mirror = scene.start();
  await mirror.index();
  for (const name of ["1.1.0", "1.2.0"])
    scene.registry.offer(name, { content: "linux=b", by: E });
  scene.clock.pass(day);
  await mirror.index();
  const [own, none] = [E.fingerprint, "A".repeat(40)];
  const hosts = { configured: new Set([acme.hostname]), allowsOthers: false };
  for (const [deed, key, scope, status, says] of [
    ["approve", own, "acme/thing@1.1.0", 0, /for \S+\/thing@1\.1\.0\./],
    ["approve", own, "acme/thing", 0, /is approved for \S+\/thing\./],
    ["revoke", own, "acme", 0, /: thing 1\.1\.0, thing 1\.2\.0 and later/],
    ["approve", own, "acme/thing@1.2.0", 1, /revoked by .* for \S+\/acme:/],
    ["revoke", own, "acme/thing", 0, /is revoked for/],
    ["approve", own, "acme", 1, /It stays revoked by .* for \S+\/thing\./],
    ["approve", none, "acme/thing", 1, /is not approved, since no/],
    ["forget", none, "acme/thing", 1, /is not decided on for/],
    ["revoke", none, "acme/thing", 0, /in advance/],
    ["revoke", none, "acme/thing", 1, /already/],
    // Who takes a precaution back trusts nobody by it.
    ["approve", none, "acme/thing", 1, /provender trust forget/],
    ["forget", none, "acme/thing", 0, /, it was revoked/],
    ["approve", none, "acme/thing", 1, /check the address and the finger/],
  ] as const) {
    const named = parseTrustScope(scope, hosts);
    const ended = await decideKey(mirror, named, key, deed).catch(
      (error: unknown) => ({ status: 1, text: String(error) }),
    );
    expect([deed, scope, ended.status]).toEqual([deed, scope, status]);
    expect(ended.text).toMatch(says);
    await mirror.index();
  }
  const { keys } = (await mirror.trust.read(acme)).decisions;
  expect(keys.filter(({ fingerprint }) => fingerprint === none)).toEqual([]);
});
