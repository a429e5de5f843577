import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratch } from "../running-mirror.ts";
import { TrustScene } from "../scenes/trust-scene.ts";
import {
  findClients,
  networkMirrorConfig,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";

const clients = await findClients();
const host = "registry.terraform.io";

let scene: TrustScene;

beforeAll(async () => {
  scene = await TrustScene.start();
});

afterAll(() => scene.stop());

/** Whether `init` installs that version from the mirror. */
async function installs(client: Client, namespace: string, version: string) {
  const directory = scratch("decided");
  const source = `${host}/${namespace}/thing`;
  await writeConfiguration(directory, { wanted: { source, version } });
  const ran = await runClient(client, ["init", "-no-color"], {
    ...{ directory, caFile: scene.mirror.caFile },
    cliConfig: networkMirrorConfig(`${scene.mirror.url}providers/`),
  });
  return ran.status === 0;
}

type Deed = "approve" | "revoke" | "forget";

/** What is decided on, and whether clients get the release after each deed. */
const orders: readonly [
  "the stranger's key" | "the known key" | "the stranger's content",
  readonly (readonly [Deed, boolean])[],
][] = [
  [
    "the stranger's key",
    [
      ["revoke", false],
      ["forget", false],
    ],
  ],
  [
    "the stranger's key",
    [
      ["approve", true],
      ["forget", false],
    ],
  ],
  [
    "the stranger's key",
    [
      ["approve", true],
      ["revoke", false],
      ["forget", false],
    ],
  ],
  [
    "the stranger's key",
    [
      ["revoke", false],
      ["approve", true],
      ["revoke", false],
    ],
  ],
  [
    "the known key",
    [
      ["revoke", false],
      ["forget", true],
    ],
  ],
  [
    "the known key",
    [
      ["revoke", false],
      ["approve", true],
      ["forget", true],
    ],
  ],
  [
    "the known key",
    [
      ["approve", true],
      ["revoke", false],
      ["forget", true],
    ],
  ],
  [
    "the stranger's content",
    [
      ["approve", true],
      ["revoke", false],
    ],
  ],
  [
    "the stranger's content",
    [
      ["approve", true],
      ["forget", false],
    ],
  ],
  [
    "the stranger's content",
    [
      ["revoke", false],
      ["forget", false],
      ["approve", true],
    ],
  ],
];

describe.each(clients)("$name $version", (client) => {
  it.each(orders.map(([of, deeds], row) => ({ of, deeds, row })))(
    "gets after each decision on $of what was decided ($row)",
    async ({ of, deeds, row }) => {
      const namespace = `row-${client.name}-${row}`;
      const { known, stranger } = await scene.refuseNext(namespace);
      const isKnown = of === "the known key";
      const version = isKnown ? "1.0.0" : "1.1.0";
      const key = isKnown ? known : stranger;
      const subject =
        of === "the stranger's content"
          ? [`${namespace}/thing@${version}`]
          : ["--key", key.fingerprint, "--for", `${namespace}/thing`];
      expect(await installs(client, namespace, version)).toBe(isKnown);
      for (const [deed, isServed] of deeds) {
        await scene.trust(deed, ...subject);
        await expect
          .poll(
            async () => (await scene.ask(namespace).version(version)).status,
          )
          .toBe(isServed ? 200 : 451);
        expect
          .soft([deed, await installs(client, namespace, version)])
          .toEqual([deed, isServed]);
      }
    },
  );
});
