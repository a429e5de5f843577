import { afterAll, beforeAll, expect, it } from "vitest";
import { onlyFor, status } from "../../fakes/faults.ts";
import type { Release } from "../../fakes/release.ts";
import type { Signer } from "../../fakes/signing.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import {
  countAlarms,
  eventually,
  listedIn,
  outcomeOf,
  type ProviderRequests,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

/** A provider in a namespace of its own, and a mirror that is asked for it. */
interface World {
  readonly scene: TrustScene;
  readonly mirror: RunningMirror;
  readonly ask: ProviderRequests;
  readonly publish: (version: string, by?: Signer) => Promise<Release>;
  /** The registry answers 404 for documents of these versions. */
  readonly lose: (...versions: readonly string[]) => void;
}

type Step = readonly [
  change: (world: World) => unknown,
  listed: string,
  /** Outcomes of the others, by version. */
  refused?: Readonly<Record<string, string>>,
];

let scene: TrustScene;
let K: Signer;
let E: Signer;
beforeAll(async () => {
  scene = await TrustScene.start();
  [K, E] = [await signer("Known"), await signer("Stranger")];
});
afterAll(() => scene.stop());

const key = "451 key-refused";
const gone = "404 not-found";
const publishAll =
  (...versions: readonly string[]) =>
  async ({ publish }: World) => {
    for (const version of versions) await publish(version);
  };

const cases: Readonly<Record<string, { readonly steps: Step[] }>> = {
  "all that the origin lists at first contact": {
    steps: [[publishAll("1.0.0", "1.1.0", "2.0.0"), "1.0.0 1.1.0 2.0.0"]],
  },
  "what was there at first contact, until it is found to have no documents": {
    steps: [
      [
        async (world) => {
          world.lose("1.0.0");
          await publishAll("1.0.0", "2.0.0")(world);
          expect(listedIn(await world.ask.index())).toHaveLength(2);
          expect(outcomeOf(await world.ask.version("1.0.0"))).toBe(gone);
        },
        "2.0.0",
        { "1.0.0": gone },
      ],
    ],
  },
  "a new version once it was verified": {
    steps: [
      [publishAll("1.0.0"), "1.0.0"],
      [publishAll("1.1.0", "2.0.0"), "1.0.0 1.1.0 2.0.0"],
    ],
  },
  "no new version that does not verify, until it does": {
    steps: [
      [publishAll("1.0.0"), "1.0.0"],
      [
        ({ publish, lose }) => {
          lose("1.1.0");
          return publish("1.1.0");
        },
        "1.0.0",
        { "1.1.0": gone },
      ],
      [({ scene: { registry } }) => registry.heal(), "1.0.0 1.1.0"],
    ],
  },
  "no new version under a stranger's key, until it comes under a known one": {
    steps: [
      [publishAll("1.0.0"), "1.0.0"],
      [({ publish }) => publish("1.1.0", E), "1.0.0", { "1.1.0": key }],
      [({ publish }) => publish("1.1.0"), "1.0.0 1.1.0"],
    ],
  },
  "what the origin withdraws, as far as it is stored": {
    steps: [
      [publishAll("1.0.0", "2.0.0"), "1.0.0 2.0.0"],
      [
        async ({ publish, scene: { registry } }) => {
          registry.withdraw(await publish("1.1.0"));
          registry.withdraw(await publish("2.0.0"));
        },
        "1.0.0 2.0.0",
        { "1.1.0": gone },
      ],
    ],
  },
  "all of a first contact while its newest three are gone together": {
    steps: [
      [
        async (world) => {
          world.lose("1.1.0", "1.2.0", "1.3.0");
          await publishAll("1.0.0", "1.1.0", "1.2.0", "1.3.0")(world);
        },
        "1.0.0 1.1.0 1.2.0 1.3.0",
        { "1.1.0": gone, "1.2.0": gone, "1.3.0": gone },
      ],
      [
        async ({ mirror, scene: { registry } }) => {
          const alarms = await countAlarms(mirror, "versions-vanished");
          expect(alarms).toBeGreaterThan(0);
          registry.heal();
        },
        "1.0.0 1.1.0 1.2.0 1.3.0",
      ],
    ],
  },
  "not what is gone at first contact where it is not the newest three": {
    steps: [
      [
        async (world) => {
          world.lose("1.2.0", "1.3.0");
          await publishAll("1.0.0", "1.1.0", "1.2.0", "1.3.0")(world);
        },
        "1.0.0 1.1.0",
        { "1.2.0": gone, "1.3.0": gone },
      ],
    ],
  },
};

/** What every face says of each version: listed is served, and what is not listed is refused. */
async function expectSame(
  { mirror, ask }: Pick<World, "mirror" | "ask">,
  namespace: string,
  listed: string,
  refused: Readonly<Record<string, string>>,
) {
  const expected = listed.split(" ");
  const base = `/v1/providers/registry.terraform.io/${namespace}/thing/`;
  const isListed = (answer: string | readonly string[]) =>
    String(answer) === String(expected);
  await eventually(async () => listedIn(await ask.index()), isListed, 20_000);
  for (const version of [...expected, ...Object.keys(refused)]) {
    const outcome = refused[version] ?? "200";
    expect([version, outcomeOf(await ask.version(version))]).toEqual([
      ...[version, outcome],
    ]);
    expect(outcomeOf(await ask.archive(version))).toBe(outcome);
    const download = await mirror.get(`${base}${version}/download/linux/amd64`);
    expect(outcomeOf(download)).toBe(outcome);
  }
  expect(listedIn(await ask.index())).toEqual(expected);
  expect(listedIn(await mirror.get(`${base}versions`))).toEqual(expected);
}

it.each(Object.entries(cases))("lists %s", async (name, { steps }) => {
  const namespace = `listing-${Object.keys(cases).indexOf(name)}`;
  try {
    const { mirror } = scene;
    const world: World = {
      ...{ scene, mirror, ask: scene.ask(namespace) },
      publish: (version, by = K) => scene.publish(namespace, version, by),
      lose: (...versions) =>
        scene.registry.script(
          "checksums",
          onlyFor(
            new RegExp(`_(${versions.join("|").replaceAll(".", "\\.")})_`),
            status(404),
          ),
        ),
    };
    for (const [change, listed, refused = {}] of steps) {
      await change(world);
      await expectSame(world, namespace, listed, refused);
    }
  } finally {
    scene.registry.heal();
  }
});

it("lists offline what is stored and may be served, and nothing else", async () => {
  for (const version of ["1.0.0", "1.1.0", "1.2.0"])
    await scene.publish("offline", version, K);
  const online = await startMirror({ config: scene.config });
  const before = scene.ask("offline", online);
  expect(listedIn(await before.index())).toHaveLength(3);
  for (const version of ["1.0.0", "1.1.0"])
    expect((await before.archive(version)).status).toBe(200);
  await online.stop();
  const { directory } = online;
  const config = { ...scene.config, offline: true };
  const mirror = await startMirror({ config, directory });
  const ask = scene.ask("offline", mirror);
  const refused = { "1.2.0": "404 not-stored" };
  await expectSame({ mirror, ask }, "offline", "1.0.0 1.1.0", refused);
  const key = [
    "--key",
    K.fingerprint,
    "--for",
    "registry.terraform.io/offline",
  ];
  await runCommand(mirror, "trust", "revoke", ...key);
  await eventually(
    async () => listedIn(await ask.index()),
    (listed) => listed === "nothing-admitted",
  );
  expect(outcomeOf(await ask.version("1.1.0"))).toBe("451 key-refused");
  await mirror.stop();
});
