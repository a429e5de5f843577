import { pino } from "pino";
import { expect } from "vitest";
import type { Sha256 } from "../../src/address/hash.ts";
import { isFailure, ProvenderError } from "../../src/errors/index.ts";
import { Archives } from "../../src/mirror/archives/archives.ts";
import type {
  ReleaseOrigin,
  SignatureJudge,
  SignaturePolicy,
} from "../../src/mirror/releases/evidence.ts";
import type { Release } from "../../src/mirror/releases/release.ts";
import type { AdmissionRules } from "../../src/mirror/trust/admission-rules.ts";
import type { ReleaseRequest } from "../../src/mirror/trust/admission.ts";
import { blobPath, type StoreLayout } from "../../src/store/layout.ts";
import { Alarms } from "../../src/telemetry/alarms.ts";
import { parsePolicy } from "../../src/trust/policy.ts";
import { decideSignature } from "../../src/verification/signature-worker.ts";
import {
  makeLayout,
  openBlobs,
  readAuditOf,
  type AuditLine,
} from "../store/stores.ts";
import { reserveAll } from "../mirror/archives/archives.ts";
import { TestClock } from "../fakes/clock.ts";
import { createSigner, type Signer } from "../fakes/signing.ts";
import {
  composeProviders,
  composeTrust,
  providerOf,
  releaseOf,
} from "./composed-mirror.ts";
import { address } from "./release-sketches.ts";
import { FailingAudit, FailingRecords, Writes } from "./failing-writes.ts";
import { sha256Of, TestRegistry } from "./test-registry.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export const acme = address.provider;

/** Milliseconds for which answers of the registry are good. */
export const freshness = 10_000;

/** Decides on signatures as the daemon does, without a thread. */
export const judge: SignatureJudge = {
  library: "arithmetic 1",
  decide: (_, question) => decideSignature(question),
};

/** The publisher's keys (K, L) and an attacker's (E). */
export async function makeSigners(): Promise<
  Readonly<Record<"K" | "L" | "E", Signer>>
> {
  const make = (name: string) => createSigner({ name, algorithm: "ed25519" });
  const [K, L, E] = await Promise.all([make("K"), make("L"), make("E")]);
  return { K, L, E };
}

export interface SceneSettings extends SignaturePolicy {
  readonly offline: boolean;
  readonly newKeys: AdmissionRules["newKeys"];
  /** Milliseconds. */
  readonly minimumAge: number;
}

const usual: SceneSettings = {
  signatures: "required",
  profile: "terraform",
  offline: false,
  newKeys: "accept-first",
  minimumAge: 0,
};

export type MirrorInProcess = ReturnType<MirrorScene["start"]>;

/** A store, a clock and a registry, which outlive the mirrors that are started on them. */
export class MirrorScene {
  readonly clock = new TestClock();
  readonly registry = new TestRegistry();
  readonly layout: StoreLayout;
  readonly #settings: Partial<SceneSettings>;

  private constructor(layout: StoreLayout, settings: Partial<SceneSettings>) {
    this.layout = layout;
    this.#settings = settings;
  }

  static async prepare(settings: Partial<SceneSettings> = {}) {
    return new MirrorScene(await makeLayout(), settings);
  }

  store(letter: string): Sha256 {
    const sha256 = sha256Of(letter);
    const path = blobPath(this.layout, sha256);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, letter);
    return sha256;
  }

  readAudit(): readonly AuditLine[] {
    return readAuditOf(this.layout);
  }

  /** Returns the decisions in the audit log: event, verdict and version. */
  audited(): readonly string[] {
    return this.readAudit().map(({ event, verdict, version }) =>
      [event, verdict, version].map(String).join(" "),
    );
  }

  /** Composes what the daemon wires, over the same store; another registry may answer this process. */
  start(changes: Partial<SceneSettings> = {}, registry = this.registry) {
    const settings = { ...usual, ...this.#settings, ...changes };
    const { signatures, profile, minimumAge, offline, newKeys } = settings;
    const { layout, clock } = this;
    const writes = new Writes();
    const records = new FailingRecords(layout, writes);
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) =>
      lines.push(JSON.parse(line) as Record<string, unknown>);
    const alarms = new Alarms(pino({ level: "info" }, { write }), undefined);
    const audit = new FailingAudit(layout, records);
    const notebook = { audit, alarms, clock };
    const policy = { signatures, profile };
    const origin: ReleaseOrigin = { registry, policy, judge, clock };
    const trusting = composeTrust(records);
    const { trust } = trusting;
    const composed = composeProviders({
      ...{ ...trusting, notebook, origin },
      rules: {
        ...{ offline, newKeys, pins: [] },
        policy: parsePolicy({ default: "allow", minimumAge, rules: [] }),
      },
      archives: new Archives(
        { blobs: openBlobs(layout), reserve: reserveAll },
        { fills: 1, fillsPerOrigin: 1, waiters: 1 },
        { onVerified: () => undefined, onFailed: () => undefined },
      ),
      freshness: { versions: freshness, staleFor: 1e9, notFound: 1 },
    });
    const { admission, providers } = composed;
    return {
      ...composed,
      ...{ records, writes, alarms, trust, notebook, origin },
      request: (version: string, type = "thing"): Promise<ReleaseRequest> =>
        admission.openVersion(releaseOf(type, version), origin),
      /** Asks for a release as clients do: `linux=a by K`, or the code of its refusal. */
      version: (version: string, type = "thing") =>
        tell(async () => {
          const asked = providers.findRelease(releaseOf(type, version));
          return sayOf((await asked).value.release);
        }),
      index: (type = "thing") =>
        tell(async () => {
          const { value } = await providers.listVersions(providerOf(type));
          return value.versions.join(" ");
        }),
      /** Alarms that were raised: kind and version. */
      alarmed: () =>
        lines.map(
          ({ alarm, version }) => `${String(alarm)} ${String(version)}`,
        ),
      alarmLines: () => lines,
      /** Versions and reasons of the candidates of a provider. */
      candidates: async (type = "thing") => {
        const list = await trust.readCandidates(providerOf(type));
        return list.map(({ version, reason }) => `${version} ${reason}`);
      },
    };
  }
}

/** A provider of which 1.0.0 was met and served; 2.0.0 came later, and no process looked at it. */
export async function prepareUnasked(
  K: Signer,
  settings: Partial<SceneSettings> = {},
) {
  const scene = await MirrorScene.prepare(settings);
  const { registry, clock } = scene;
  registry.offer("1.0.0", { content: "linux=a", by: K });
  expect(await scene.start().version("1.0.0")).toBe("linux=a");
  registry.offer("2.0.0", { content: "linux=b", by: K });
  clock.pass(freshness);
  return { scene, registry, clock };
}

/** The same where 2.0.0 is listed, with a process that knows it. */
export async function prepareMet(
  K: Signer,
  settings: Partial<SceneSettings> = {},
) {
  const prepared = await prepareUnasked(K, settings);
  const mirror = prepared.scene.start();
  expect(await mirror.index()).toBe("2.0.0 1.0.0");
  return { ...prepared, mirror };
}

const reasoned = ["signature-refused", "origin-answer", "store-full"] as const;

/** Returns the result of a request, or the refusal's code with its reason. */
async function tell(ask: () => Promise<string>): Promise<string> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProvenderError)) throw error;
    if (isFailure(error, "key-refused")) return `key-refused: ${error.because}`;
    if (isFailure(error, ...reasoned)) return `${error.code}: ${error.reason}`;
    return error.code;
  }
}

const letters = new Map(
  Array.from("abcdefghijklmnopqrstuvwxyz", (one) => [sha256Of(one), one]),
);

/** Such as `linux=a darwin=b`. */
function sayOf({ packages }: Pick<Release, "packages">): string {
  return [...packages]
    .map(
      ([platform, { sha256 }]) =>
        `${platform.replace("_amd64", "")}=${letters.get(sha256) ?? sha256}`,
    )
    .toSorted()
    .join(" ");
}
