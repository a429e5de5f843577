import { existsSync } from "node:fs";
import { expect } from "vitest";
import type { PublishOptions } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { blobOf, startMirror } from "../running-mirror.ts";
import { originsOf } from "../origins.ts";
import { startOrigin } from "./world.ts";
import {
  digestsIn,
  eventually,
  readAudit,
  requestsFor,
} from "./provider-requests.ts";

type Settings = Readonly<Record<string, unknown>>;

export function digestsOf(release: Release): Readonly<Record<string, string>> {
  return Object.fromEntries(
    release.archives.map(({ platform, sha256 }) => [platform, sha256]),
  );
}

/** Version 1.0.0 of as many providers as are wanted, and a mirror that asks their registry at every request. */
export async function startSeenReleases() {
  const { authority, registry } = await startOrigin();
  const configure = (origin: Settings, others: Settings) => ({
    ...originsOf(authority, registry, origin),
    freshness: { versions: "0" },
    ...others,
  });
  let mirror = await startMirror({ config: configure({}, {}) });
  /** The path of the stored archive for linux_amd64. */
  const pathOf = (release: Release) =>
    blobOf(mirror, release.archive("linux_amd64").sha256);
  return {
    ...{ registry, pathOf },
    get mirror() {
      return mirror;
    },
    /** The mirror dies and comes back on its store; `origin` are settings of the origin, `others` of the mirror. */
    restart: async (origin: Settings = {}, others: Settings = {}) => {
      await mirror.kill();
      const { directory } = mirror;
      const config = configure(origin, others);
      mirror = await startMirror({ config, directory });
    },
    /** A release that the mirror has seen and stored. */
    seen: async (type: string, options: Partial<PublishOptions> = {}) => {
      const common = { type, version: "1.0.0", size: 30_000 };
      const release = await registry.publish({ ...common, ...options });
      const { status, body } = await requestsFor(mirror, type).archive("1.0.0");
      expect(status).toBe(200);
      expect(body.equals(release.archive("linux_amd64").bytes)).toBe(true);
      // The last byte leaves before the archive has its name.
      await eventually(
        () => mirror.get("/healthz"),
        () => existsSync(pathOf(release)),
      );
      return release;
    },
    /** Clients get the digests and the bytes of this release. */
    expectServed: async (type: string, release: Release) => {
      const ask = requestsFor(mirror, type);
      expect(digestsIn(await ask.version("1.0.0"))).toEqual(digestsOf(release));
      const { body } = await ask.archive("1.0.0");
      expect(body.equals(release.archive("linux_amd64").bytes)).toBe(true);
    },
    auditOf: (type: string, event: string) =>
      readAudit(mirror).filter(
        (line) =>
          line.event === event &&
          line.provider?.endsWith(`/acme/${type}`) === true,
      ),
  };
}
