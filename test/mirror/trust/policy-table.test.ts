import { describe, expect, it } from "vitest";
import { createSigner } from "../../fakes/signing.ts";
import {
  startMirror,
  type Answer,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  eventually,
  listedIn,
  outcomeOf,
  reconfigure,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { askEveryFace } from "../../scenes/registry-requests.ts";
import { startOrigin } from "../../scenes/world.ts";

/** Releases that must be refused, and what is listed; where that is nothing, lists are refused, too. */
const subjects = [
  ["policy-denied", "partly", "2.0.0", "1.0.0"],
  ["policy-denied", "wholly", "1.0.0", ""],
  ["too-young", "young", "1.1.0", "1.0.0"],
  ["too-young", "young", "1.2.0", "1.0.0"],
  ["too-young", "newborn", "1.0.0", ""],
  ["key-refused", "held", "2.0.0", "1.0.0"],
  ["key-refused", "pinned", "2.0.0", "1.0.0"],
  ["key-refused", "foreign", "1.0.0", ""],
] as const;

/** The faces of each subject that do not refuse it. */
async function allServed(): Promise<readonly string[]> {
  const served: string[] = [];
  for (const [code, type, version, listed] of subjects) {
    const { answers, lists } = await askEveryFace(mirror, version, type);
    const isRefused = (answer: Answer) =>
      [`451 ${code}`, "451 no body"].includes(outcomeOf(answer));
    const isRight = (list: Answer) =>
      listed === "" ? list.status === 451 : String(listedIn(list)) === listed;
    served.push(
      ...Object.entries(answers)
        .filter(([, answer]) => !isRefused(answer))
        .concat(Object.entries(lists).filter(([, list]) => !isRight(list)))
        .map(([face]) => `${type} ${version} by ${face}`),
    );
  }
  return served;
}

async function restart(config: Readonly<Record<string, unknown>>) {
  await mirror.stop();
  mirror = await startMirror({ config, directory: mirror.directory });
}

const { registry, config } = await startOrigin();
const known = await createSigner({ name: "Known" });
const other = await createSigner({ name: "Other" });
const publish = (type: string, version: string, options = {}) =>
  registry.publish({ type, version, signer: known, size: 20_000, ...options });
const justNow = { signedAt: new Date(Date.now() - 60_000) };
for (const type of ["partly", "wholly", "young", "held", "pinned"])
  await publish(type, "1.0.0");
await publish("partly", "2.0.0");
await publish("young", "1.1.0", justNow);
await publish("newborn", "1.0.0", justNow);
await publish("foreign", "1.0.0", { signer: other });
const asking = { ...config, freshness: { versions: "0" } };
/** Documents stay as they are unless the rules say otherwise. */
const lasting = { ...config, freshness: { versions: "10m" } };
const rules = {
  policy: {
    rules: [
      { match: "*/acme/partly", action: "deny", versions: ">= 2.0" },
      { match: "*/acme/wholly", action: "deny" },
      ...["young", "newborn"].map((type) => ({
        ...{ match: `*/acme/${type}`, action: "allow", minimumAge: "7d" },
      })),
    ],
  },
  trust: {
    keys: ["pinned", "foreign"].map((type) => ({
      match: `registry.terraform.io/acme/${type}`,
      fingerprints: [known.fingerprint],
    })),
  },
};
let mirror: RunningMirror = await startMirror({ config: asking });
for (const type of ["partly", "wholly", "young", "newborn", "held", "pinned"])
  expect(await requestsFor(mirror, type).delivery("1.0.0")).toBe("200");
await publish("young", "1.2.0");
await publish("pinned", "2.0.0", { signer: other });
// A third key, which nothing was accepted under.
await publish("held", "2.0.0", { signer: await createSigner() });
const held = requestsFor(mirror, "held");
expect(await held.delivery("2.0.0")).toBe("451 key-refused");
// Only what was held back can be approved.
await requestsFor(mirror, "pinned").version("2.0.0");
const approve = ["trust", "approve", "acme/pinned@2.0.0"];
expect(await runCommand(mirror, ...approve)).toMatchObject({ status: 0 });
for (const [, type, version] of subjects.filter(([, type]) => type !== "held"))
  await eventually(
    () => requestsFor(mirror, type).archive(version),
    (answer) => answer.status === 200,
  );
await restart(lasting);

describe("what the rules, its age or its key keep out", () => {
  it("is refused after SIGHUP, though it was served from the store before", async () => {
    for (const [, type, version] of subjects)
      await askEveryFace(mirror, version, type);
    reconfigure(mirror, rules);
    await expect.poll(allServed).toEqual([]);
  });

  it("is refused after a restart, while the origin is down and answers are stale", async () => {
    await restart({ ...asking, ...rules });
    await registry.stop();
    try {
      expect(await allServed()).toEqual([]);
      expect(await requestsFor(mirror, "held").delivery("1.0.0")).toBe("200");
    } finally {
      await registry.restart();
    }
  });

  it("is refused by an offline mirror", async () => {
    await restart({ ...lasting, ...rules, offline: true });
    const before = registry.requests.count();
    expect(await allServed()).toEqual([]);
    expect(registry.requests.count()).toBe(before);
  });
});
