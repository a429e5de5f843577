import { expect } from "vitest";
import type { PublishOptions } from "../fakes/registry.ts";
import { createSigner, type Signer } from "../fakes/signing.ts";
import { startMirror, type MirrorOptions } from "../running-mirror.ts";
import {
  eventually,
  outcomeOf,
  requestsFor,
  runCommand,
} from "./provider-requests.ts";
import { startOrigin } from "./world.ts";

type Settings = Readonly<Record<string, unknown>>;

/** Namespace as `trust list --json` shows it. */
export interface ListedTrust {
  readonly namespace: string;
  readonly candidates: readonly {
    readonly type: string;
    readonly version: string;
    readonly sha256sums: string;
    readonly fingerprint: string | null;
    readonly reason: string;
    readonly command: string | null;
    readonly setting: string | null;
  }[];
}

/** A decision works beside a running daemon within about a second. */
export const soon = 1_500;

export function signer(name: string): Promise<Signer> {
  return createSigner({ name, algorithm: "ed25519" });
}

export type TrustScene = Awaited<ReturnType<typeof startTrustScene>>;

/** Provider `thing` in as many namespaces as are wanted, and a mirror that asks its registry at every request. */
export async function startTrustScene(
  options: Pick<MirrorOptions, "user"> = {},
) {
  const { registry, config: origin } = await startOrigin();
  const config = { ...origin, freshness: { versions: "0" } };
  /** Another mirror, with these settings beside the scene's. */
  const startOther = (settings: Settings) =>
    startMirror({ config: { ...config, ...settings } });
  let mirror = await startMirror({ config, ...options });

  // Equal archives would be stored once for all namespaces.
  const publish = (
    namespace: string,
    version: string,
    by: Signer,
    release: Partial<PublishOptions> = {},
  ) =>
    registry.publish({
      ...{ namespace, type: "thing", version, seed: namespace, signer: by },
      ...release,
    });

  const ask = (namespace: string, of = mirror) =>
    requestsFor(of, "thing", namespace);

  /** The first contact with a namespace, whose key is known from then on. */
  const contact = async (namespace: string, by: Signer) => {
    const first = await publish(namespace, "1.0.0", by);
    expect((await ask(namespace).version("1.0.0")).status).toBe(200);
    return first;
  };

  /** `provender trust` beside the daemon; what it prints. */
  const trust = async (...args: readonly string[]) => {
    const run = await runCommand(mirror, "trust", ...args);
    expect([run.status, run.stderr]).toEqual([0, ""]);
    return run.stdout;
  };

  /** Asks for VERSION.json until the outcome is as expected, for as long as a decision takes. */
  const expectOutcome = async (
    namespace: string,
    version: string,
    expected: string,
  ) => {
    const asked = async () => outcomeOf(await ask(namespace).version(version));
    await eventually(asked, (outcome) => outcome === expected, soon);
  };

  return {
    ...{ registry, config, publish, ask, contact, trust, expectOutcome },
    startMirror: startOther,
    get mirror() {
      return mirror;
    },
    /** The mirror dies and comes back on its store after `meanwhile`. */
    revive: async (meanwhile: () => void = () => undefined) => {
      await mirror.kill();
      meanwhile();
      const { directory } = mirror;
      mirror = await startMirror({ config, directory, ...options });
    },
    /** Candidates of a namespace that need a decision. */
    candidatesOf: async (namespace: string) => {
      const { namespaces } = JSON.parse(await trust("list", "--json")) as {
        readonly namespaces: readonly ListedTrust[];
      };
      const name = `registry.terraform.io/${namespace}`;
      const listed = namespaces.find((one) => one.namespace === name);
      return listed?.candidates ?? [];
    },
    /** Makes first contact with a namespace, and publishes its 1.1.0 under a key that is not known. */
    refuseNext: async (namespace: string) => {
      const known = await signer("Known");
      const stranger = await signer("Stranger");
      await contact(namespace, known);
      await publish(namespace, "1.1.0", stranger);
      await expectOutcome(namespace, "1.1.0", "451 key-refused");
      return { known, stranger };
    },
  };
}
