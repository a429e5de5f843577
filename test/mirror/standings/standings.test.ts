import { describe, expect, it } from "vitest";
import { parsePattern } from "../../../src/address/policy-pattern.ts";
import { parseVersionConstraint } from "../../../src/address/version-constraint.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { failure } from "../../../src/errors/index.ts";
import { listVanished } from "../../../src/mirror/standings/refusals.ts";
import { parsePolicy } from "../../../src/trust/policy.ts";
import type { Signer } from "../../fakes/signing.ts";
import {
  acme,
  freshness,
  makeSigners,
  MirrorScene,
  prepareMet,
  type MirrorInProcess,
  type SceneSettings,
} from "../../scenes/mirror-in-process.ts";
import { unreachable } from "../../scenes/test-registry.ts";

const { K, L, E } = await makeSigners();

/** A registry with these releases; each signed by its own key. */
async function offering(
  releases: Readonly<Record<string, Signer | undefined>>,
  settings: Partial<SceneSettings> = {},
) {
  const scene = await MirrorScene.prepare(settings);
  for (const [version, by] of Object.entries(releases))
    scene.registry.offer(version, { content: "linux=a", by });
  return scene;
}

const contactOf = async ({ request }: Pick<MirrorInProcess, "request">) =>
  (await request("1.0.0")).entry.findContact("thing");

describe("first contact by a list", () => {
  it("has the versions that exist, the keys that are published and the signer of the newest", async () => {
    const scene = await offering({ "1.0.0": L, "2.0.0": K, "3.0.0-rc1": E });
    const block = [K.armoredPublicKey, L.armoredPublicKey];
    scene.registry.offer("2.0.0", { content: "linux=b", by: K, keys: block });
    const mirror = scene.start();
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    expect(await contactOf(mirror)).toMatchObject({
      ...{ by: "list", key: K.fingerprint, newest: "2.0.0" },
      at: scene.clock.now(),
      versions: new Set(["1.0.0", "2.0.0", "3.0.0-rc1"]),
      published: new Set([K.fingerprint, L.fingerprint]),
    });
    expect(scene.audited()).toContain("new-key accepted 2.0.0");
  });

  it.each([
    ["has no documents", failure("not-found", "it"), 1],
    ["fails alone, which is asked once more", unreachable, 2],
    ["does not verify", undefined, 1],
  ])(
    "is by the next release where the newest %s",
    async (_, error, questions) => {
      const scene = await offering({ "1.0.0": K, "2.0.0": E });
      const { registry } = scene;
      const keys = [K.armoredPublicKey];
      if (error) registry.fail("sums thing 2.0.0", error);
      else registry.offer("2.0.0", { content: "linux=e", by: E, keys });
      const mirror = scene.start();
      expect(await mirror.version("1.0.0")).toBe("linux=a");
      expect(await contactOf(mirror)).toMatchObject({
        ...{ newest: "1.0.0", key: K.fingerprint },
        versions: new Set(["1.0.0", "2.0.0"]),
      });
      expect(registry.count("sums thing 2.0.0")).toBe(questions);
      expect(registry.count("sums thing 1.0.0")).toBe(1);
    },
  );

  it.each(["list thing", "release thing", "sums thing"])(
    "waits while the registry fails altogether (%s), and is made once it answers",
    async (question) => {
      const scene = await offering({ "1.0.0": K, "2.0.0": K, "3.0.0": K });
      scene.registry.fail(question);
      const mirror = scene.start();
      expect(await mirror.index()).toBe("origin-unreachable");
      // Lists do not try again at once.
      const asked = scene.registry.count("release thing");
      for (let n = 0; n < 20; n++) await mirror.index();
      expect(scene.registry.count("release thing")).toBe(asked);
      expect(await mirror.version("1.0.0")).toBe("origin-unreachable");
      expect(await contactOf(mirror)).toBeUndefined();
      const trust = /^(?:namespaces|first_contacts|candidates)\//;
      const written = mirror.writes.names.filter((name) => trust.test(name));
      expect(written).toEqual([]);
      scene.registry.heal();
      expect(await mirror.version("3.0.0")).toBe("linux=a");
      expect((await contactOf(mirror))?.newest).toBe("3.0.0");
    },
  );

  it("is not made by an empty list: the first versions are there at first contact", async () => {
    const scene = await offering({});
    const mirror = scene.start();
    expect(await mirror.index()).toBe("");
    expect(await contactOf(mirror)).toBeUndefined();
    scene.registry.offer("1.0.0", { content: "linux=a", by: K });
    scene.clock.pass(freshness);
    expect(await mirror.index()).toBe("1.0.0");
    expect(await contactOf(mirror)).toMatchObject({
      ...{ key: K.fingerprint, versions: new Set(["1.0.0"]) },
    });
  });

  it("is by the release that is asked for, where none of the newest can be had", async () => {
    const newer = Array.from({ length: 9 }, (_, n) => `${n + 2}.0.0`);
    const releases = ["1.0.0", ...newer].map((one) => [one, K] as const);
    const scene = await offering(Object.fromEntries(releases));
    for (const version of newer)
      scene.registry.fail(`sums thing ${version}`, failure("not-found", "it"));
    const mirror = scene.start();
    expect(await mirror.index()).not.toContain("1.0.0");
    expect(await contactOf(mirror)).toBeUndefined();
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    expect((await contactOf(mirror))?.newest).toBe("1.0.0");
  });

  it("is by the newest release that the rules allow", async () => {
    const scene = await offering({ "1.0.0": K, "2.0.0": E });
    const { admission, ...mirror } = scene.start();
    const match = parsePattern("*/*/*");
    const versions = parseVersionConstraint(">= 2.0");
    const policy = parsePolicy({
      ...{ default: "allow", minimumAge: 0 },
      rules: [{ match, action: "deny", versions }],
    });
    admission.replaceRules({ ...admission.rules, policy });
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    expect(await contactOf(mirror)).toMatchObject({
      ...{ newest: "1.0.0", key: K.fingerprint },
    });
  });

  it("is never by a version that is not listed", async () => {
    const scene = await offering({ "1.0.0": K, "9.0.0": E });
    scene.registry.hide("9.0.0");
    scene.registry.fail("sums thing 1.0.0", failure("not-found", "it"));
    const mirror = scene.start();
    expect(await mirror.version("9.0.0")).not.toBe("linux=a");
    expect(await contactOf(mirror)).toBeUndefined();
  });

  it("is made once, however many ask at once", async () => {
    const scene = await offering({ "1.0.0": K, "2.0.0": K });
    const { version, index, writes } = scene.start();
    const asked = Array.from({ length: 10 }, () => [version("1.0.0"), index()]);
    await Promise.all(asked.flat());
    const contacts = writes.names.filter((name) =>
      name.startsWith("first_contacts/"),
    );
    expect(contacts).toHaveLength(1);
    const lines = scene.audited().filter((line) => line.startsWith("new-key"));
    expect(lines).toEqual(["new-key accepted 2.0.0"]);
  });
});

const { hostname, namespace, type } = acme;
const list = ["version_lists", hostname, namespace, type] as const;
const release = ["releases", hostname, namespace, type, "1.0.0"] as const;
const month = 30 * 86_400_000;

it.each<[string, (scene: MirrorScene, mirror: MirrorInProcess) => unknown]>([
  ["under a clock that was set ahead", ({ clock }) => clock.step(12 * month)],
  [
    "after the clock was set back, and the list and every release were lost",
    async ({ clock }, { records }) => {
      clock.step(-month);
      await records.remove(list);
      await records.remove(release);
    },
  ],
  [
    "after all versions were withdrawn for a while",
    async ({ registry, clock }, mirror) => {
      registry.remove("1.0.0");
      clock.pass(freshness);
      await mirror.index();
      registry.offer("1.0.0", { content: "linux=a", by: K });
    },
  ],
])(
  "once a provider was met, a back-dated release of another key is refused %s",
  async (_, change) => {
    const scene = await offering({ "1.0.0": K });
    const first = scene.start();
    expect(await first.version("1.0.0")).toBe("linux=a");
    await change(scene, first);
    // A new process asks first: it has no list in memory to join.
    for (const mirror of [scene.start(), first, scene.start()]) {
      scene.registry.offer("9.0.0", {
        ...{ content: "linux=e", by: E },
        signedAt: new Date("2021-01-01T00:00:00Z"),
      });
      scene.clock.pass(freshness);
      expect(await mirror.version("9.0.0")).toBe("key-refused: unknown");
      expect(await mirror.index()).not.toContain("9.0.0");
    }
  },
);

it("first contact teaches of another provider of a known namespace, under another key, that this counts for it alone, with an alarm", async () => {
  const scene = await offering({ "1.0.0": K });
  const { registry, clock } = scene;
  registry.offer("1.0.0", { content: "linux=b", by: L }, "other");
  const mirror = scene.start();
  await mirror.version("1.0.0");
  expect(mirror.alarmed()).toEqual([]);
  expect(await mirror.version("1.0.0", "other")).toBe("linux=b");
  expect(mirror.alarmed()).toEqual(["key-new 1.0.0"]);
  registry.offer("2.0.0", { content: "linux=c", by: L });
  registry.offer("2.0.0", { content: "linux=c", by: K }, "other");
  clock.pass(freshness);
  expect(await mirror.version("2.0.0")).toBe("key-refused: unknown");
  expect(await mirror.version("2.0.0", "other")).toBe("linux=c");
});

it.each(
  [1, 2, 3, 4].flatMap((step) =>
    (["fails", "dies before", "dies after"] as const).map(
      (fate) => [step, fate] as const,
    ),
  ),
)(
  "what first contact teaches is whole or nothing where its write %i %s, and its line is in the audit log in the end",
  async (step, fate) => {
    const scene = await offering({ "1.0.0": K });
    const first = scene.start();
    let count = 0;
    first.writes.let((name) => {
      const isOne = /^(namespaces|first_contacts|audit new-key)/.test(name);
      return (isOne || (count === 3 && name === "commit")) && ++count === step
        ? fate
        : undefined;
    });
    const said = await first.version("1.0.0").catch(() => "killed");
    expect(said).not.toBe("linux=a");
    const later = scene.start();
    expect(await later.version("1.0.0")).toBe("linux=a");
    expect(await contactOf(later)).toMatchObject({ key: K.fingerprint });
    const lines = scene.audited().filter((line) => line.includes("new-key"));
    expect(lines).toEqual(["new-key accepted 1.0.0"]);
  },
);

it("what is noted as refused is what a list has, until it is served: nothing that no list has", async () => {
  const { mirror, registry, clock } = await prepareMet(K);
  const refused = async () => [...(await mirror.refused.list(acme)).keys()];
  for (let n = 0; n < 3; n++)
    expect(await mirror.version(`9.0.${n}`)).toBe("not-found");
  for (const version of ["3.0.0", "8.0.0"])
    registry.offer(version, { content: "linux=e", by: E });
  registry.hide("8.0.0");
  clock.pass(freshness);
  expect(await mirror.version("8.0.0")).toBe("not-found");
  expect(await mirror.version("3.0.0")).toBe("key-refused: unknown");
  expect(await refused()).toEqual(["3.0.0"]);
  registry.offer("3.0.0", { content: "linux=c", by: K });
  clock.pass(freshness);
  await mirror.version("3.0.0");
  expect(await refused()).toEqual([]);
});

it.each([
  ["all at once", "3@0 2@1 1@59", "3.0.0 2.0.0 1.0.0"],
  ["within more than an hour", "3@0 2@1 1@61", ""],
  ["but for one", "3@0 1@0", ""],
])(
  "versions whose documents are gone vanished together: %s",
  (_, gone, told) => {
    const newest = ["3.0.0", "2.0.0", "1.0.0", "0.9.0"].map(parseVersion);
    const refusals = gone.split(" ").map((one) => {
      const [major, minute] = one.split("@").map(Number);
      const since = new Date(Date.UTC(2026, 0, 1, 0, minute));
      return [`${major}.0.0`, { code: "not-found", since }] as const;
    });
    expect(listVanished(newest, new Map(refusals)).join(" ")).toBe(told);
  },
);
