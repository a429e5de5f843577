import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import {
  decideContent,
  decideKey,
  type Deed,
} from "../../../src/commands/trust/decide.ts";
import {
  acme,
  makeSigners,
  MirrorScene,
} from "../../scenes/mirror-in-process.ts";
import { writeChecksums } from "../../scenes/test-registry.ts";

const { K, L, E } = await makeSigners();
const day = 86_400_000;
const version = "1.1.0";

/** Every order of three, and so of two, is somewhere in it: a sequence of de Bruijn, closed. */
const orders = "aaafaaraffafrarfarrfffrfrrraa";
const deeds = { a: "approve", r: "revoke", f: "forget" } as const;

const of = (type: string) => ({
  namespace: { type: null, version: null },
  provider: { type, version: null },
  release: { type, version: parseVersion(version) },
});

interface Row {
  readonly of: string;
  readonly type: string;
  readonly by: typeof K;
  /** What a decision on its key is for; undefined for one on its content. */
  readonly scope: keyof ReturnType<typeof of> | undefined;
  /** What is printed where nothing is decided. */
  readonly unsaid: string;
  /** What clients get where it is approved, revoked, undecided; under a minimum age 1.1.0 is too young, unless its content is approved. */
  readonly served: readonly [string, string, string];
}

const scopes = ["namespace", "provider", "release"] as const;
const [revoked, unknown] = ["key-refused: revoked", "key-refused: unknown"];
const bad = "content-revoked";
const known = ["linux=b", revoked, "linux=b"] as const;

const rows: readonly Row[] = [
  ...scopes.flatMap((scope): readonly Row[] => [
    {
      ...{ of: "a stranger's key", type: "thing", by: E, scope },
      unsaid: "not decided on",
      served: ["linux=b", revoked, unknown],
    },
    {
      ...{ of: "the key of first contact", type: "thing", by: K, scope },
      ...{ unsaid: "known by first contact", served: known },
    },
    {
      ...{ of: "the key of one provider", type: "second", by: L, scope },
      unsaid:
        scope === "namespace" ? "not decided on" : "known by first contact",
      served: known,
    },
  ]),
  {
    ...{ of: "a stranger's content", type: "thing", by: E, scope: undefined },
    ...{ unsaid: "not decided on", served: ["linux=b", bad, unknown] },
  },
  {
    ...{ of: "the publisher's content", type: "thing", by: K },
    ...{ scope: undefined, unsaid: "not decided on" },
    served: ["linux=b", bad, "linux=b"],
  },
];

/** A provider whose 1.1.0 came after first contact, and the commands on it. */
async function prepare({ type, by, scope }: Row, minimumAge: number) {
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
  const release = {
    provider: providerAddress(acme.hostname, acme.namespace, type),
    version: parseVersion(version),
  };
  const document = writeChecksums(release.provider, release.version, offered);
  const sha256sums = createHash("sha256").update(document).digest("hex");
  const { trust } = mirror;
  return {
    mirror,
    /** What is printed: `STATE → STATE`. */
    decide: async (deed: Deed) => {
      const { text } = await (scope === undefined
        ? decideContent(mirror, release, sha256sums, deed)
        : decideKey(
            mirror,
            { ...acme, ...of(type)[scope] },
            ...([by.fingerprint, deed] as const),
          ));
      const state = "(approved|revoked|not decided on|known by first contact)";
      const [, is] = new RegExp(` is ${state}`).exec(text) ?? [];
      const [, was = is] =
        new RegExp(`\nBefore, it was ${state}`).exec(text) ?? [];
      return `${was} → ${is}`;
    },
    /** What the core decides by. */
    decided: async () => {
      const { keys, contents } = (await trust.read(acme)).decisions;
      expect(keys.length + contents.length).toBeLessThan(2);
      return [...keys, ...contents][0]?.decision;
    },
  };
}

describe.each([
  ["without a minimum age", 0],
  ["under a minimum age", 9 * day],
] as const)("approve, revoke and forget %s", (_, minimumAge) => {
  it.each(rows.map((row) => ({ ...row, about: row.scope ?? "release", row })))(
    "in every order of two and three for the $about: $of",
    async ({ row }) => {
      const { mirror, decide, decided } = await prepare(row, minimumAge);
      const { unsaid } = row;
      const answers = row.served.map((answer, at) => {
        const isUrgent = row.scope === undefined && at === 0;
        const isYoung = minimumAge > 0 && answer === "linux=b" && !isUrgent;
        return isYoung ? "too-young" : answer;
      }) as [string, string, string];
      const states = {
        a: ["approved", answers[0]],
        r: ["revoked", answers[1]],
        f: [unsaid, answers[2]],
      } as const;
      let before: string = unsaid;
      expect(await mirror.version(version, row.type)).toBe(answers[2]);
      for (const letter of orders) {
        const deed = letter as keyof typeof deeds;
        const [after, served] = states[deed];
        expect({
          printed: await decide(deeds[deed]),
          decided: (await decided()) ?? unsaid,
          served: await mirror.version(version, row.type),
          listed: (await mirror.index(row.type)).split(" ").includes(version),
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
  const provider = providerAddress(acme.hostname, acme.namespace, "thing");
  const urgent = { provider, version: parseVersion("1.0.2") };
  await decideContent(mirror, urgent, undefined, "approve");
  expect(await mirror.index()).toBe("1.0.2 1.0.0");
  expect(await mirror.version("1.0.1")).toBe("too-young");
});

it("the orders are all of them", () => {
  const each = ["a", "r", "f"];
  for (const one of each)
    for (const two of each)
      for (const three of each) expect(orders).toContain(one + two + three);
});
