import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { expect, it } from "vitest";
import { ProvenderError } from "../../../src/errors/index.ts";
import { recordRefusals } from "../../../src/server/requests/refusal-audit.ts";
import { statusOf } from "../../../src/server/http/error-response.ts";
import { decide } from "../../../src/trust/decisions.ts";
import type { Signer } from "../../fakes/signing.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import {
  acme,
  freshness,
  MirrorScene,
  type MirrorInProcess,
} from "../../scenes/mirror-in-process.ts";

// PROVENDER_WRITE_DOCS=1 writes the table of docs/decisions.md.

const file = join(import.meta.dirname, "../../../docs/decisions.md");
const columns = {
  "1.0.0": "1.0.0, signed with the old key",
  "1.1.0": "1.1.0, signed again with the new key",
  "2.0.0": "2.0.0, signed with the new key",
} as const;
type Version = keyof typeof columns;

const [old, next] = await Promise.all([
  createCertifiedSigner("old key"),
  createCertifiedSigner("new key"),
]);

/** A publisher who changes keys, and a mirror. */
async function startRotation() {
  const scene = await MirrorScene.prepare();
  const { registry, clock } = scene;
  const mirror = scene.start();
  const signed = new Map<Version, { by: Signer; signedAt?: Date }>();
  let published: readonly Signer[] = [];
  /** Publishes these keys with every release from now on. */
  const publish = (...signers: readonly Signer[]) => {
    published = signers;
    const keys = signers.map(({ armoredPublicKey }) => armoredPublicKey);
    for (const [version, offered] of signed)
      registry.offer(version, { content: "linux=a", keys, ...offered });
  };
  return {
    ...{ scene, mirror, signed, publish },
    /** Signs a release, again with the same archives when there was one. */
    sign: (version: Version, by: Signer, isNow = true) => {
      signed.set(version, { by, ...(isNow && { signedAt: clock.now() }) });
      publish(...published);
    },
    /** Has the operator decide for the provider. */
    decideOn: (decision: "approved" | "revoked", { fingerprint }: Signer) => {
      const at = clock.now().toISOString();
      const key = { type: "thing", version: null, fingerprint, decision, at };
      return mirror.trust.decide(acme, (before) => decide(before, key));
    },
  };
}

/** Takes a step, and tells in a row of the table what clients get then and which alarms were raised. */
async function take(rotation: Rotation, [name, act]: Step): Promise<string> {
  const { scene, mirror, signed } = rotation;
  const before = mirror.alarmed().length;
  await act(rotation);
  scene.clock.pass(freshness);
  const cells: string[] = [];
  for (const version of Object.keys(columns) as Version[])
    cells.push(signed.has(version) ? await look(mirror, version) : "–");
  const raised = mirror.alarmed().slice(before);
  const kinds = raised.map((alarm) => `\`${alarm.split(" ")[0]}\``);
  const alarms = [...new Set(kinds)].toSorted().join(", ") || "–";
  return `| ${[name, ...cells, alarms].join(" | ")} |`;
}

/** What clients get of a release, which is listed where it is served and nowhere else. */
async function look(mirror: MirrorInProcess, version: Version) {
  const { address } = await mirror.request(version);
  const outcome = await mirror.providers.findRelease(address).then(
    ({ value }) => {
      const { signedBy } = value.release.checksums;
      const signer = [old, next].find((one) => one.fingerprint === signedBy);
      return `served, ${signer?.name}`;
    },
    (error: unknown) => {
      if (!(error instanceof ProvenderError)) throw error;
      // As the server does with what it answers.
      const names = { ...address.provider, version };
      const client = { requestId: "one", client: "::1" };
      const { audit } = mirror.notebook;
      recordRefusals(audit, mirror.alarms)(names, error, client);
      return `${statusOf(error)} ${error.code}`;
    },
  );
  const isListed = (await mirror.index()).split(" ").includes(version);
  expect([version, outcome, isListed]).toEqual([
    ...[version, outcome, outcome.startsWith("served")],
  ]);
  return outcome;
}

type Rotation = Awaited<ReturnType<typeof startRotation>>;
type Step = readonly [name: string, act: (rotation: Rotation) => unknown];

const rotating: readonly Step[] = [
  [
    "first contact: the registry publishes the old key",
    (rotation) => {
      rotation.sign("1.0.0", old, false);
      rotation.sign("1.1.0", old, false);
      rotation.publish(old);
    },
  ],
  [
    "it publishes the new key beside the old one",
    (rotation) => rotation.publish(old, next),
  ],
  [
    "the publisher signs 1.1.0 again with the new key",
    (rotation) => rotation.sign("1.1.0", next),
  ],
  [
    "the publisher releases 2.0.0 under the new key",
    (rotation) => rotation.sign("2.0.0", next),
  ],
];

/** Ways in which the old key ends, each after the steps above. */
const endings: readonly Step[] = [
  [
    "the registry publishes the new key alone",
    (rotation) => rotation.publish(next),
  ],
  [
    "the registry publishes the old key as expired",
    async (rotation) => rotation.publish(await old.expired(), next),
  ],
  [
    "the registry publishes the old key as revoked",
    async (rotation) => rotation.publish(await old.revoked(), next),
  ],
  ["you revoke the old key", (rotation) => rotation.decideOn("revoked", old)],
];

const approval: Step = [
  "… then you approve the new key",
  (rotation) => rotation.decideOn("approved", next),
];

/** Without what aligns the columns. */
const unpadded = (text: string) => text.replaceAll(/ +/g, " ");

it("clients get what the table says while a publisher changes keys, and each version is listed where it is served", async () => {
  const head = ["what happens", ...Object.values(columns), "alarms"];
  const rows: string[] = [];
  for (const ending of endings) {
    const rotation = await startRotation();
    for (const [at, step] of [...rotating, ending, approval].entries()) {
      const row = await take(rotation, step);
      if (ending === endings[0] || at >= rotating.length) rows.push(row);
      else expect(row).toBe(rows[at]);
    }
  }
  const table = [
    `| ${head.join(" | ")} |`,
    `|${" --- |".repeat(head.length)}`,
    ...rows,
  ].join("\n");
  const page = readFileSync(file, "utf8");
  const replaced = page.replace(
    /(<!-- rotation -->\n).*?(<!-- \/rotation -->)/s,
    (_, begin: string, end: string) => `${begin}\n${table}\n${end}`,
  );
  const written = await format(replaced, { parser: "markdown" });
  if (process.env.PROVENDER_WRITE_DOCS === "1") writeFileSync(file, written);
  expect(unpadded(written)).toBe(unpadded(readFileSync(file, "utf8")));
});
