import { blobOf } from "../running-mirror.ts";
import { existsSync } from "node:fs";
import { expect } from "vitest";
import type { Authority } from "../fakes/authority.ts";
import type { PublishOptions, Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { startMirror, type RunningMirror } from "../running-mirror.ts";
import { originsOf } from "../origins.ts";
import { startOrigin } from "./world.ts";
import {
  digestsIn,
  eventually,
  readAudit,
  requestsFor,
  type AuditLine,
} from "./provider-requests.ts";

type Settings = Readonly<Record<string, unknown>>;

export function digestsOf(release: Release): Readonly<Record<string, string>> {
  return Object.fromEntries(
    release.archives.map(({ platform, sha256 }) => [platform, sha256]),
  );
}

/** Version 1.0.0 of as many providers as are wanted, and a mirror that asks their registry at every request. */
export class SeenReleases {
  readonly #authority: Authority;
  readonly registry: Registry;
  mirror: RunningMirror;

  private constructor(
    authority: Authority,
    registry: Registry,
    mirror: RunningMirror,
  ) {
    this.#authority = authority;
    this.registry = registry;
    this.mirror = mirror;
  }

  static async start(): Promise<SeenReleases> {
    const { authority, registry } = await startOrigin();
    const config = configure(authority, registry, {});
    const mirror = await startMirror({ config });
    return new SeenReleases(authority, registry, mirror);
  }

  /** The mirror dies and comes back on its store; `origin` are settings of the origin, `others` of the mirror. */
  async restart(origin: Settings = {}, others: Settings = {}): Promise<void> {
    await this.mirror.kill();
    const { directory } = this.mirror;
    const config = {
      ...configure(this.#authority, this.registry, origin),
      ...others,
    };
    this.mirror = await startMirror({ config, directory });
  }

  /** A release that the mirror has seen and stored. */
  async seen(
    type: string,
    options: Partial<PublishOptions> = {},
  ): Promise<Release> {
    const release = await this.registry.publish({
      type,
      version: "1.0.0",
      size: 30_000,
      ...options,
    });
    const ask = requestsFor(this.mirror, type);
    const { status, body } = await ask.archive("1.0.0");
    expect(status).toBe(200);
    expect(body.equals(release.archive("linux_amd64").bytes)).toBe(true);
    // The last byte leaves before the archive has its name.
    await eventually(
      () => this.mirror.get("/healthz"),
      () => existsSync(this.pathOf(release)),
    );
    return release;
  }

  /** Returns the path of the stored archive for linux_amd64. */
  pathOf(release: Release): string {
    return blobOf(this.mirror, release.archive("linux_amd64").sha256);
  }

  /** Clients get the digests and the bytes of this release. */
  async expectServed(type: string, release: Release): Promise<void> {
    const ask = requestsFor(this.mirror, type);
    expect(digestsIn(await ask.version("1.0.0"))).toEqual(digestsOf(release));
    const { body } = await ask.archive("1.0.0");
    expect(body.equals(release.archive("linux_amd64").bytes)).toBe(true);
  }

  auditOf(type: string, event: string): readonly AuditLine[] {
    return readAudit(this.mirror).filter(
      (line) =>
        line.event === event &&
        line.provider?.endsWith(`/acme/${type}`) === true,
    );
  }
}

function configure(
  authority: Authority,
  registry: Registry,
  settings: Settings,
): Settings {
  return {
    ...originsOf(authority, registry, settings),
    freshness: { versions: "0" },
  };
}
