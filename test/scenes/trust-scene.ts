import { expect } from "vitest";
import type { PublishOptions, Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { createSigner, type Signer } from "../fakes/signing.ts";
import {
  startMirror,
  type MirrorOptions,
  type RunningMirror,
} from "../running-mirror.ts";
import {
  eventually,
  outcomeOf,
  requestsFor,
  runCommand,
  type ProviderRequests,
} from "./provider-requests.ts";
import { startOrigin } from "./world.ts";

type Settings = Readonly<Record<string, unknown>>;
type As = Pick<MirrorOptions, "user">;

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

/** Provider `thing` in as many namespaces as are wanted, and a mirror that asks its registry at every request. */
export class TrustScene {
  readonly registry: Registry;
  readonly config: Settings;
  mirror: RunningMirror;
  readonly #options: As;

  private constructor(
    registry: Registry,
    config: Settings,
    mirror: RunningMirror,
    options: As,
  ) {
    this.#options = options;
    this.registry = registry;
    this.config = config;
    this.mirror = mirror;
  }

  static async start(options: As = {}): Promise<TrustScene> {
    const { registry, config: origin } = await startOrigin();
    const config = { ...origin, freshness: { versions: "0" } };
    const mirror = await startMirror({ config, ...options });
    return new TrustScene(registry, config, mirror, options);
  }

  /** The mirror dies and comes back on its store, with these settings beside its own, after `meanwhile`. */
  async revive(
    settings: Settings = {},
    meanwhile: () => void = () => undefined,
  ): Promise<void> {
    await this.mirror.kill();
    meanwhile();
    const { directory } = this.mirror;
    const config = { ...this.config, ...settings };
    const options = { config, directory, ...this.#options };
    this.mirror = await startMirror(options);
  }

  /** Another mirror, with these settings beside the scene's. */
  startMirror(settings: Settings): Promise<RunningMirror> {
    return startMirror({ config: { ...this.config, ...settings } });
  }

  publish(
    namespace: string,
    version: string,
    by: Signer,
    options: Partial<PublishOptions> = {},
  ): Promise<Release> {
    // Equal archives would be stored once for all namespaces.
    const release = { namespace, type: "thing", version, seed: namespace };
    return this.registry.publish({ ...release, signer: by, ...options });
  }

  ask(namespace: string, of = this.mirror): ProviderRequests {
    return requestsFor(of, "thing", namespace);
  }

  /** The first contact with a namespace, whose key is known from then on. */
  async contact(namespace: string, by: Signer): Promise<Release> {
    const first = await this.publish(namespace, "1.0.0", by);
    expect((await this.ask(namespace).version("1.0.0")).status).toBe(200);
    return first;
  }

  /** `provender trust` beside the daemon; what it prints. */
  async trust(...args: readonly string[]): Promise<string> {
    const run = await runCommand(this.mirror, "trust", ...args);
    expect([run.status, run.stderr]).toEqual([0, ""]);
    return run.stdout;
  }

  /** Candidates of a namespace that need a decision. */
  async candidatesOf(namespace: string): Promise<ListedTrust["candidates"]> {
    const text = await this.trust("list", "--json");
    const name = `registry.terraform.io/${namespace}`;
    const { namespaces } = JSON.parse(text) as {
      readonly namespaces: readonly ListedTrust[];
    };
    const listed = namespaces.find((one) => one.namespace === name);
    return listed?.candidates ?? [];
  }

  /** Asks for VERSION.json until the outcome is as expected, for as long as a decision takes. */
  async expectOutcome(
    namespace: string,
    version: string,
    expected: string,
  ): Promise<void> {
    await eventually(
      async () => outcomeOf(await this.ask(namespace).version(version)),
      (outcome) => outcome === expected,
      soon,
    );
  }

  /** Makes first contact with a namespace, and publishes its 1.1.0 under a key that is not known. */
  async refuseNext(namespace: string) {
    const [known, stranger] = [await signer("Known"), await signer("Stranger")];
    await this.contact(namespace, known);
    await this.publish(namespace, "1.1.0", stranger);
    await this.expectOutcome(namespace, "1.1.0", "451 key-refused");
    return { known, stranger };
  }
}
